/**
 * Puts a package together in the staging folder: its own files, its dependencies' files, all verified. Nothing that is
 * installed is touched, and nothing of the package runs.
 *
 *   source ─► version or commit ─► tarball ─► files ─► dependencies ─► their files
 *   lock   ─────────────────────────────────► files ─────────────────► their files ─► the same bytes, or it fails
 */
import { basename } from "node:path";
import { findContents, type PackageContents } from "./contents.ts";
import { resolveDependencies } from "./dependencies.ts";
import { type DigestedFile, digestFiles } from "./files-digest.ts";
import { digestTree, type LockedPackage } from "./lock-file.ts";
import { type PackageManifest, readPackageManifest } from "./manifest-of.ts";
import { findScripted, type Scripted } from "./npm-scripts.ts";
import type { NpmOptions } from "./npmrc.ts";
import { wordIntegrity, wordUnsafe } from "./package-error.ts";
import type { ResolvedVersion } from "./registry.ts";
import { assertScripts } from "./rules.ts";
import { formatSource, type PackageSource } from "./source.ts";
import { openStaging, packageIn } from "./store.ts";
import { fetchTarget, type Target } from "./target.ts";
import { unpack } from "./unpack.ts";
import { assertOwn, orUnsaved, sizeOf, unpackDependencies } from "./unpack-dependencies.ts";
import type { Workshop } from "./workshop.ts";

/** A package that was put together, and is not installed yet. */
export interface Staged {
  identity: string;
  /** The folder that becomes its root. */
  folder: string;
  locked: LockedPackage;
  manifest: PackageManifest;
  contents: PackageContents;
  /** Bytes of all files. */
  size: number;
  /** Packages that want to run scripts. */
  scripted: Scripted[];
  /** What is known of where it came from. */
  version?: ResolvedVersion;
  pinned?: string;
}

/** Puts together what a source means now. `allowed`: packages whose scripts may run when it is installed. */
export async function stageSource(
  shop: Workshop,
  source: PackageSource,
  { target, allowed }: { target: Target; allowed: readonly string[] },
): Promise<Staged> {
  const { context, scope } = shop;
  const folder = await openStaging(scope);
  const label = labelOf(source);
  const own = await unpackOwn(shop, { source, target, label, folder });
  const manifest = await readPackageManifest(packageIn(folder), { label, fallback: fallbackOf(source) });
  assertIsMeant(source, target, manifest);
  const dependencies = await resolveDependencies(context, await npmFor(shop, manifest), {
    name: manifest.name,
    wanted: manifest.wanted,
  });
  const { resolved, integrity, commit, version, pinned } = target;
  const locked: LockedPackage = {
    source: formatSource(source, scope.folder),
    name: manifest.name,
    version: manifest.version,
    resolved,
    integrity,
    commit,
    files: digestFiles(own),
    tree: digestTree(dependencies),
    scripts: [],
    capabilities: manifest.capabilities,
    dependencies,
  };
  assertOwn(locked, "", own);
  const size = sizeOf(own) + (await unpackDependencies(shop, locked, folder));
  const scripted = await findScripted(packageIn(folder), locked);
  locked.scripts = [...new Set(scripted.map(({ name }) => name))].filter((name) => allowed.includes(name)).toSorted();
  const contents = await assertContents(manifest.name, packageIn(folder));
  return { identity: source.identity, folder, locked, manifest, contents, size, scripted, version, pinned };
}

/**
 * Puts together exactly what the lock file says. `allowed`: packages whose scripts the person lets run. Fails with
 * `package_integrity` where that is not what there is, and with `package_script` for scripts that a project's lock names.
 */
export async function stageLocked(
  shop: Workshop,
  source: PackageSource,
  { locked, allowed }: { locked: LockedPackage; allowed: readonly string[] },
): Promise<Staged> {
  if (shop.scope.name === "project") assertScripts(locked, allowed);
  const folder = await openStaging(shop.scope);
  const { name, resolved, integrity, commit } = locked;
  const target: Target = { resolved, integrity, commit };
  const own = await unpackOwn(shop, { source, target, label: name, folder, version: locked.version });
  if (digestFiles(own) !== locked.files) throw wordIntegrity(name, "its files are not those that the lock file says");
  const copy: LockedPackage = { ...locked, dependencies: { ...locked.dependencies } };
  const size = sizeOf(own) + (await unpackDependencies(shop, copy, folder));
  const manifest = await readPackageManifest(packageIn(folder), { label: name, fallback: fallbackOf(source) });
  const scripted = await findScripted(packageIn(folder), copy);
  copy.scripts = copy.scripts.filter((each) => scripted.some((found) => found.name === each));
  const contents = await assertContents(name, packageIn(folder));
  return { identity: source.identity, folder, locked: copy, manifest, contents, size, scripted };
}

interface Own {
  source: PackageSource;
  target: Target;
  label: string;
  folder: string;
  version?: string;
}

async function unpackOwn(shop: Workshop, { source, target, label, folder, version }: Own): Promise<DigestedFile[]> {
  const { context, scope } = shop;
  context.onProgress?.({ step: "fetching", what: label });
  const tarball = await fetchTarget(shop, { source, target, label, version });
  shop.assertHeld();
  context.onProgress?.({ step: "unpacking", what: label });
  return await orUnsaved(scope.store, () => unpack(label, tarball, packageIn(folder)));
}

function assertIsMeant(source: PackageSource, { version }: Target, manifest: PackageManifest): void {
  if (source.kind !== "npm") return;
  if (manifest.name !== source.name || manifest.version !== version?.version) {
    const found = `${manifest.name}@${manifest.version ?? "no version"}`;
    throw wordUnsafe(`${source.name}@${version?.version}`, `its tarball holds ${found}`);
  }
}

function labelOf(source: PackageSource): string {
  if (source.kind === "npm") return source.name;
  return source.kind === "git" ? source.identity.slice("git:".length) : source.written;
}

/** A repository may hold a package without a name; its last folder's is taken. */
function fallbackOf(source: PackageSource): string {
  return source.kind === "git" ? basename(source.subfolder ?? source.repository).toLowerCase() : "";
}

async function assertContents(name: string, folder: string): Promise<PackageContents> {
  const contents = await findContents(folder);
  const [refused] = contents.refused;
  if (refused) throw wordUnsafe(name, `its manifest names "${refused.path}", which ${refused.reason}`);
  return contents;
}

async function npmFor(shop: Workshop, { wanted }: PackageManifest): Promise<NpmOptions> {
  const isAlone = Object.keys({ ...wanted.dependencies, ...wanted.optionalDependencies }).length === 0;
  return isAlone ? { cache: "", registry: "" } : await shop.npm();
}
