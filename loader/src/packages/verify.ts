/** Whether an installed package is still what the lock file says. */

import { lookAt } from "../places.ts";
import { findContents } from "./contents.ts";
import type { PackageScope } from "./context.ts";
import { isForThisMachine } from "./dependencies.ts";
import { type DigestedFile, digestFile, digestFiles, walkFiles } from "./files-digest.ts";
import type { LockedPackage } from "./lock-file.ts";
import { readPackageManifest } from "./manifest-of.ts";
import { type InstallRecord, isAsSeen, readRecord, writeRecord } from "./record.ts";
import { packageIn, rootOf } from "./store.ts";

/** `missing`: not there at all. `changed` says what is not as it was, worded to follow "it". */
export type Verified =
  | { state: "ok"; record: InstallRecord }
  | { state: "missing" }
  | { state: "changed"; reason: string };

// Files that are read at a time.
const AT_ONCE = 32;

/**
 * Verifies an installed package: with a look at its files, and by all their bytes where the look finds a difference, or
 * `isThorough`. What was copied or restored is taken down anew, so that the next start need not read it again.
 */
export async function verifyInstalled(
  scope: PackageScope,
  locked: LockedPackage,
  isThorough = false,
): Promise<Verified> {
  const root = rootOf(scope, locked);
  const record = readRecord(root);
  if (record && !isThorough && isAsSeen(root, record)) return { state: "ok", record };
  if (!lookAt(packageIn(root))?.isDirectory()) return { state: "missing" };
  const digests = await digestRoot(root, locked);
  const reason = "reason" in digests ? digests.reason : compare(locked, digests, record);
  if (reason !== undefined) return { state: "changed", reason };
  if (record && isAsSeen(root, record)) return { state: "ok", record };
  const renewed = await renewRecord(root, locked, record?.built);
  return renewed ? { state: "ok", record: renewed } : { state: "changed", reason: "could not be looked at" };
}

/** The digests of what is in a root: of the package's own files, of each dependency's, and of all together. */
export interface RootDigests {
  own: string;
  dependencies: Map<string, string>;
  all: string;
}

/** Reads every file of a root. What is no file or folder, or belongs to nothing that is locked, is the reason. */
export async function digestRoot(
  root: string,
  { dependencies }: Pick<LockedPackage, "dependencies">,
): Promise<RootDigests | { reason: string }> {
  const folder = packageIn(root);
  const { files, others } = await walkFiles(folder);
  if (others[0] !== undefined) return { reason: `holds ${others[0]}, which is a link or no file` };
  const digested: DigestedFile[] = [];
  for (let at = 0; at < files.length; at += AT_ONCE) {
    digested.push(...(await Promise.all(files.slice(at, at + AT_ONCE).map((path) => digestFile(folder, path)))));
  }
  // The longest place comes first: a dependency's own dependencies are not its files.
  const places = Object.keys(dependencies).toSorted((a, b) => b.length - a.length);
  const byPlace = new Map<string, DigestedFile[]>([["", []], ...places.map((place) => [place, []] as [string, []])]);
  for (const file of digested) {
    const place = places.find((each) => file.path.startsWith(`${each}/`)) ?? "";
    byPlace.get(place)?.push(place === "" ? file : { ...file, path: file.path.slice(place.length + 1) });
  }
  const own = digestFiles(byPlace.get("") ?? []);
  const rest = places.filter((place) => byPlace.get(place)?.length !== 0);
  return {
    own,
    dependencies: new Map(rest.map((place) => [place, digestFiles(byPlace.get(place) ?? [])])),
    all: digestFiles(digested),
  };
}

function compare(locked: LockedPackage, digests: RootDigests, record: InstallRecord | undefined): string | undefined {
  // What a script made is not in the lock; the record beside it says what it was.
  if (locked.scripts.length > 0 && record?.built !== undefined) {
    return digests.all === record.built ? undefined : "has other files than after its scripts ran";
  }
  if (digests.own !== locked.files) return "has other files than the lock file says";
  for (const [place, dependency] of Object.entries(locked.dependencies)) {
    const found = digests.dependencies.get(place);
    if (found === undefined) {
      if (isForThisMachine(dependency)) return `lacks ${place}`;
    } else if (dependency.files !== undefined && dependency.files !== found) {
      return `has other files in ${place} than the lock file says`;
    }
  }
  return undefined;
}

async function renewRecord(
  root: string,
  locked: LockedPackage,
  built: string | undefined,
): Promise<InstallRecord | undefined> {
  const folder = packageIn(root);
  const { capabilities, hostPeers, lends } = await readPackageManifest(folder, {
    label: locked.name,
    fallback: locked.name,
  });
  const facts = { contents: await findContents(folder), capabilities, hostPeers, lends, built, fits: {} };
  // Where the store may not be written, the next start looks at everything again.
  await writeRecord(root, facts).catch(() => {});
  return readRecord(root) ?? { version: 1, seen: [], size: 0, ...facts };
}

/** The folder of a package that was verified. */
export function folderOf(scope: PackageScope, locked: LockedPackage): string {
  return packageIn(rootOf(scope, locked));
}
