/**
 * Where installed packages are.
 *
 *   <store>/<name>/<key>/package      the package, with its dependencies in node_modules
 *   <store>/<name>/<key>/record.json  what was there when it was installed
 *   <store>/.staging/<id>/            what is being made; nothing looks there
 *   <store>/.checked                  which bytes of the lock file were found sound
 *
 * 1. A root appears by a rename, whole, and is never changed afterwards: another version is another key.
 * 2. What is in force is said by the lock file alone; a root that it does not name is nothing.
 * 3. Whatever a killed process left in the staging folder is thrown away by the next one.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { removeDrafts } from "../locked-file.ts";
import { lookAt } from "../places.ts";
import type { PackageContext, PackageScope } from "./context.ts";
import type { Lock, LockedPackage } from "./lock-file.ts";
import { wordUnsaved } from "./package-error.ts";
import { sweepScratch } from "./scratch.ts";
import { lockStore } from "./store-lock.ts";

const STAGING = ".staging";

/** The root of a locked package: the same for the same bytes, whatever the source was called. */
export function rootOf({ store }: PackageScope, locked: LockedPackage): string {
  const { name, version, integrity, commit, files, tree, scripts } = locked;
  const parts = [name, version ?? "", integrity ?? commit ?? "", files, tree, ...scripts.toSorted()];
  const key = createHash("sha256").update(parts.join("\0")).digest("hex").slice(0, 32);
  return join(store, name, key);
}

/** The folder of a root that the package itself is in. */
export function packageIn(root: string): string {
  return join(root, "package");
}

/** Runs while no other process changes the scope; waits for one that does until the signal fires. */
export async function withStore<T>(
  context: PackageContext,
  scope: PackageScope,
  work: (assertHeld: () => void) => Promise<T>,
): Promise<T> {
  const { store, name, folder } = scope;
  try {
    await mkdir(store, { recursive: true, mode: 0o700 });
    // For a person who wonders whose it is.
    if (name === "project") await writeFile(join(store, ".project"), `${folder}\n`);
  } catch (cause) {
    throw wordUnsaved(store, cause);
  }
  const held = await lockStore(context, store);
  const assertHeld = () => {
    context.signal?.throwIfAborted();
    held.assertHeld();
  };
  try {
    await sweep(context, scope);
    return await work(assertHeld);
  } finally {
    // What is left is thrown away by the next one; where another process took over, it is that one's.
    if (isHeld(held)) await sweepStaging(scope).catch(() => {});
    await held.release();
  }
}

function isHeld(held: Awaited<ReturnType<typeof lockStore>>): boolean {
  try {
    held.assertHeld();
    return true;
  } catch {
    return false;
  }
}

/** Throws away whatever killed processes left. Fails with `package_not_saved`. */
async function sweep(context: PackageContext, scope: PackageScope): Promise<void> {
  try {
    await sweepStaging(scope);
    await sweepScratch(context);
    for (const path of [scope.lock, scope.previousLock]) if (lookAt(dirname(path))) await removeDrafts(path);
  } catch (cause) {
    throw wordUnsaved(scope.store, cause);
  }
}

function sweepStaging({ store }: PackageScope): Promise<void> {
  return rm(join(store, STAGING), { recursive: true, force: true });
}

/** Makes a folder to put a root together in. */
export async function openStaging({ store }: PackageScope): Promise<string> {
  const folder = join(store, STAGING, crypto.randomUUID());
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** Moves what was put together into its place; what was there and is damaged is moved away first. */
export async function moveIntoPlace(scope: PackageScope, staged: string, root: string): Promise<void> {
  try {
    await mkdir(dirname(root), { recursive: true, mode: 0o700 });
    if (lookAt(root)) await rename(root, join(scope.store, STAGING, crypto.randomUUID()));
    await rename(staged, root);
  } catch (cause) {
    throw wordUnsaved(root, cause);
  }
}

/** Takes away the roots that no lock names. Fails with `package_not_saved`. */
export async function pruneStore(scope: PackageScope, locks: readonly Lock[]): Promise<void> {
  const kept = new Set(locks.flatMap((each) => [...each.values()].map((locked) => rootOf(scope, locked))));
  try {
    for (const name of await listNames(scope.store)) {
      const folder = join(scope.store, name);
      for (const key of await readdir(folder)) {
        const root = join(folder, key);
        if (!kept.has(root)) await rm(root, { recursive: true, force: true });
      }
      if ((await readdir(folder)).length === 0) await rm(folder, { recursive: true });
    }
  } catch (cause) {
    throw wordUnsaved(scope.store, cause);
  }
}

async function listNames(store: string): Promise<string[]> {
  const names: string[] = [];
  const folders = (await readdir(store, { withFileTypes: true })).filter((each) => each.isDirectory());
  for (const name of folders.map((each) => each.name).filter((each) => !each.startsWith("."))) {
    if (!name.startsWith("@")) names.push(name);
    else {
      const below = await readdir(join(store, name));
      if (below.length === 0) await rm(join(store, name), { recursive: true });
      names.push(...below.map((each) => join(name, each)));
    }
  }
  return names;
}
