/** Rules that hold for every package that comes into force, however it comes. */
import type { PackageScope } from "./context.ts";
import type { DeclaredKey } from "./declared.ts";
import { lockKey } from "./effective.ts";
import { findHostMisfit } from "./host-check.ts";
import { isOurs } from "./host-packages.ts";
import type { Lock, LockedPackage } from "./lock-file.ts";
import type { PackageManifest } from "./manifest-of.ts";
import { wordConflict, wordForeignScripts } from "./package-error.ts";
import type { PackageSource } from "./source.ts";
import type { Staged } from "./stage.ts";
import type { Target } from "./target.ts";
import type { Workshop } from "./workshop.ts";

/** Fails with `package_host` where the host is not one it was made for, with `package_conflict` where it is there twice. */
export async function assertFits(
  { context }: Workshop,
  { identity, manifest, locked }: Staged,
  lock: Lock,
): Promise<void> {
  const misfit = await findHostMisfit(context.hostVersions, manifest);
  if (misfit) throw misfit;
  // A name that was taken from a repository's is nobody's claim.
  if (!manifest.isNamed) return;
  for (const [key, other] of lock) {
    const isOther =
      key !== identity &&
      !(key.startsWith("tarball:") && identity.startsWith("tarball:") && other.source === locked.source);
    if (isOther && other.name === manifest.name) throw wordConflict(manifest.name, other.source);
  }
}

/** Where a package is declared: what Pi cannot load does not go where Pi looks. */
export function keyFor(source: PackageSource, { hostPeers }: Pick<PackageManifest, "hostPeers">): DeclaredKey {
  const isOnlyOurs = source.kind === "git" && (source.subfolder !== undefined || source.range !== undefined);
  return isOnlyOurs || isOurs(Object.keys(hostPeers)) ? "piAgent.packages" : "packages";
}

/** The scripts that were allowed before. A project's lock file is not the person's word. */
export function rememberedScripts(scope: PackageScope, before: LockedPackage | undefined): string[] {
  return scope.name === "user" ? (before?.scripts ?? []) : [];
}

/** Fails where somebody else's lock file names scripts that the person has not: it is not their word (P1). */
export function assertScripts(locked: LockedPackage, allowed: readonly string[]): void {
  const foreign = locked.scripts.filter((name) => !allowed.includes(name));
  if (foreign.length > 0) throw wordForeignScripts(locked.name, foreign);
}

/** What is locked, with the scripts that the person allows now. */
export function withScripts(locked: LockedPackage, allowed: readonly string[]): LockedPackage {
  const names = new Set([
    locked.name,
    ...Object.entries(locked.dependencies).map(([place, { name }]) => name ?? nameIn(place)),
  ]);
  const more = allowed.filter((name) => names.has(name) && !locked.scripts.includes(name));
  return more.length === 0 ? locked : { ...locked, scripts: [...locked.scripts, ...more].toSorted() };
}

function nameIn(place: string): string {
  return place.split("node_modules/").at(-1) ?? place;
}

/** Tells whether a source means what is locked. */
export function isSameTarget(locked: LockedPackage, { commit, integrity }: Target): boolean {
  return commit === undefined ? locked.integrity === integrity : locked.commit === commit;
}

/** The lock with one entry put in or replaced. */
export function withEntry(
  lock: Lock,
  source: PackageSource,
  { scope, locked }: { scope: PackageScope; locked: LockedPackage },
): Lock {
  return new Map([...lock, [lockKey(source, scope), locked]]);
}
