/** What a source means at a moment, and the bytes that it then is. */
import { createHash } from "node:crypto";
import { relative, resolve } from "node:path";
import { readRegularFile } from "../file-view.ts";
import { realPathOf } from "../places.ts";
import { fetchCommit, resolveRef } from "./git.ts";
import { wordIntegrity, wordNoFile } from "./package-error.ts";
import { assertOldEnough, fetchTarball, MAX_TARBALL_BYTES, type ResolvedVersion, resolveVersion } from "./registry.ts";
import type { PackageSource } from "./source.ts";
import type { Workshop } from "./workshop.ts";

/** What a source means at this moment, before anything of it is fetched. */
export interface Target {
  resolved: string;
  integrity?: string;
  commit?: string;
  version?: ResolvedVersion;
  /** Why an update leaves it as it is. */
  pinned?: string;
  /** What has to be read to know what it is. */
  tarball?: Buffer;
}

/** Finds out which version, commit or file a source means now. */
export async function resolveTarget(shop: Workshop, source: PackageSource): Promise<Target> {
  const { context, scope } = shop;
  context.onProgress?.({ step: "resolving", what: source.identity });
  if (source.kind === "npm") {
    const version = await resolveVersion(await shop.npm(), source.name, source.spec);
    assertOldEnough(context, version);
    const pinned = source.how === "exact" ? "the source names an exact version" : undefined;
    return { resolved: version.resolved, integrity: version.integrity, version, pinned };
  }
  if (source.kind === "git") {
    const { commit, kind, isPinned } = await resolveRef(context, source);
    const pinned = isPinned ? `a ${kind} does not move` : undefined;
    return { resolved: toResolved(source.url, commit), commit, pinned };
  }
  const tarball = readTarball(source.path);
  const path = relative(scope.folder, source.path);
  return { resolved: `file:${path.split("\\").join("/")}`, integrity: integrityOf(tarball), tarball };
}

/** Fetches the tarball of the package itself. `version` is the one that is locked. */
export async function fetchTarget(
  shop: Workshop,
  { source, target, label, version = "" }: { source: PackageSource; target: Target; label: string; version?: string },
): Promise<Buffer> {
  const { resolved, integrity = "", commit = "" } = target;
  if (source.kind === "npm") {
    const exact = target.version?.version ?? version;
    return await fetchTarball(shop, { name: source.name, version: exact, resolved, integrity });
  }
  if (source.kind === "git") return await fetchCommit(shop.context, source, commit);
  const tarball = target.tarball ?? readTarball(resolve(shop.scope.folder, resolved.slice("file:".length)));
  if (integrityOf(tarball) !== integrity)
    throw wordIntegrity(label, "the tarball is another one than the lock file says");
  return tarball;
}

function readTarball(path: string): Buffer {
  try {
    return readRegularFile(realPathOf(path), MAX_TARBALL_BYTES);
  } catch (cause) {
    throw wordNoFile(path, cause);
  }
}

function integrityOf(bytes: Buffer): string {
  return `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
}

function toResolved(url: string, commit: string): string {
  const address = /^(?:https|ssh|file):/.test(url) ? url : `ssh://${url.replace(":", "/")}`;
  return `git+${address}#${commit}`;
}
