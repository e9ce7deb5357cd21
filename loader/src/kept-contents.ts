/**
 * The texts that were approved, kept to show later what changed: `<agentDir>/cache/approved/<sha256>`, each as long as a
 * record names it. Nothing is decided by them, so that one that is lost or damaged costs a diff and nothing else.
 */
import { isUtf8 } from "node:buffer";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readRegularFile } from "./file-view.ts";
import { makeOwnFolder } from "./own-folder.ts";
import { digestBytes } from "./plan.ts";
import { listRecords, type TrustRecord } from "./trust-store.ts";

// What is larger is nothing that a person reads a diff of.
const MAX_BYTES = 1 << 20;

/** The bytes of a member as they were approved; `undefined` where they were not kept, or are no longer what they were. */
export function readKept(agentDir: string, digest: string): Buffer | undefined {
  const path = keptPath(agentDir, digest);
  if (path === undefined) return undefined;
  try {
    const bytes = readRegularFile(path, MAX_BYTES);
    return digestBytes(bytes) === digest ? bytes : undefined;
  } catch {
    // Not kept: there is no diff.
    return undefined;
  }
}

/** Keeps the texts among the contents that a record names. Never fails. */
export async function keepContents(
  agentDir: string,
  record: TrustRecord,
  contents: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  const isMissing = (digest: string) => isText(contents.get(digest)) && !readKept(agentDir, digest);
  const missing = [...namesOf(record)].filter(isMissing);
  if (missing.length === 0) return;
  try {
    await makeOwnFolder(join(agentDir, "cache", "approved"));
    for (const digest of missing) {
      const [path, bytes] = [keptPath(agentDir, digest), contents.get(digest)];
      if (path === undefined || bytes === undefined) continue;
      await rm(path, { force: true });
      await writeFile(path, bytes, { mode: 0o600, flag: "wx" });
    }
  } catch {
    // The decision is saved; only diffs will be missing.
  }
}

/** Removes what a project's record named before and no record names now. Never fails. */
export async function dropContents(agentDir: string, before?: TrustRecord, after?: TrustRecord): Promise<void> {
  const dropped = before ? namesOf(before) : new Set<string>();
  const keep = (record: TrustRecord) => namesOf(record).forEach((digest) => dropped.delete(digest));
  if (after) keep(after);
  if (dropped.size > 0) listRecords(agentDir).forEach(keep);
  for (const digest of dropped) {
    const path = keptPath(agentDir, digest);
    // What cannot be removed is a file too many in a cache.
    if (path !== undefined) await rm(path, { force: true }).catch(() => {});
  }
}

function namesOf({ resources }: TrustRecord): Set<string> {
  return new Set(Object.values(resources).flatMap(({ members }) => Object.values(members)));
}

function keptPath(agentDir: string, digest: string): string | undefined {
  const [, name] = /^sha256-([0-9a-f]{64})$/.exec(digest) ?? [];
  return name === undefined ? undefined : join(agentDir, "cache", "approved", name);
}

function isText(bytes: Uint8Array | undefined): boolean {
  return bytes !== undefined && bytes.length <= MAX_BYTES && isUtf8(bytes) && !bytes.includes(0);
}
