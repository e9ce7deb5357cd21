import { statSync } from "node:fs";
import { ToolFailure } from "./result.ts";

/** What tells one state of a file from the next; `undefined` while there is none. */
export type FileVersion = string | undefined;

/** Tells the state a file is in now. Fails as `stat` does. */
export function versionOf(path: string): FileVersion {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && [stats.dev, stats.ino, stats.size, stats.mtimeNs].join(":");
}

/** Fails with `changed_meanwhile` unless a file is still in the state it was seen in. */
export function assertUnchanged(path: string, seen: FileVersion): void {
  if (versionOf(path) === seen) return;
  throw new ToolFailure(
    "changed_meanwhile",
    `Could not change ${path}: the file changed meanwhile.`,
    "Nothing was written. Another program is writing it: wait until it is done, then read and edit again.",
  );
}
