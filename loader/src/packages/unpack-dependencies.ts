/** Puts the dependencies of a package in their places below it. */
import { join } from "node:path";
import { isForThisMachine } from "./dependencies.ts";
import { type DigestedFile, digestFiles } from "./files-digest.ts";
import type { LockedDependency, LockedPackage } from "./lock-file.ts";
import { codeOf, wordIntegrity, wordUnsafe, wordUnsaved } from "./package-error.ts";
import { fetchTarball } from "./registry.ts";
import { packageIn } from "./store.ts";
import { unpack } from "./unpack.ts";
import type { Workshop } from "./workshop.ts";

// Tarballs that are fetched at a time.
const AT_ONCE = 8;
const MAX_BYTES = 1 << 30;

/** Fetches and unpacks what is for this machine; puts down the digests that are not locked yet. Answers the bytes. */
export async function unpackDependencies(
  shop: Workshop,
  { name, dependencies }: LockedPackage,
  folder: string,
): Promise<number> {
  const all = Object.entries(dependencies).filter(([, each]) => isForThisMachine(each));
  const queue = [...all];
  let size = 0;
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [place, dependency] = next;
      const files = await unpackDependency(shop, { place, dependency, folder });
      assertOwn({ name, dependencies }, place, files);
      const digest = digestFiles(files);
      if (dependency.files !== undefined && dependency.files !== digest) {
        throw wordIntegrity(`${place} of ${name}`, "its files are not those that the lock file says");
      }
      dependencies[place] = { ...dependency, files: digest };
      size += sizeOf(files);
      if (size > MAX_BYTES) throw wordUnsafe(name, `it and its dependencies are larger than ${MAX_BYTES >> 20} MB`);
      shop.context.onProgress?.({ step: "fetching", what: name, done: all.length - queue.length, total: all.length });
    }
  };
  // Every one is waited for, so that nothing is still writing when the folder is taken away.
  const outcomes = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
  const failed = outcomes.find((each) => each.status === "rejected");
  if (failed) throw failed.reason;
  return size;
}

async function unpackDependency(
  shop: Workshop,
  { place, dependency, folder }: { place: string; dependency: LockedDependency; folder: string },
): Promise<DigestedFile[]> {
  const { name = place.split("node_modules/").at(-1)!, version, resolved, integrity } = dependency;
  shop.assertHeld();
  const tarball = await fetchTarball(shop, { name, version, resolved, integrity });
  return await orUnsaved(shop.scope.store, () => unpack(name, tarball, join(packageIn(folder), place)));
}

/** Fails when a package brings files to a place where another one is installed: they would be taken for that one's. */
export function assertOwn(
  { name, dependencies }: Pick<LockedPackage, "name" | "dependencies">,
  place: string,
  files: readonly DigestedFile[],
): void {
  const start = place === "" ? "" : `${place}/`;
  const below = Object.keys(dependencies).filter((each) => each !== place && each.startsWith(start));
  for (const other of below) {
    const file = files.find(({ path }) => `${start}${path}`.startsWith(`${other}/`));
    if (file) throw wordUnsafe(name, `${start}${file.path} lies where ${other} is installed`);
  }
}

/** Runs what writes below a folder. Fails with `package_not_saved`, or `package_unsafe` for a file that is there twice. */
export async function orUnsaved<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (codeOf(cause) === "EEXIST") throw wordUnsafe(what, "two packages bring the same file");
    throw codeOf(cause).startsWith("E") ? wordUnsaved(what, cause) : cause;
  }
}

/** The bytes of files. */
export function sizeOf(files: readonly DigestedFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}
