import type { SpoolStatus } from "../spool-folder.ts";
import { toSize } from "./words.ts";

/** Says what is not in the database yet; nothing where all is. */
export function wordWaiting({ lines, bytes }: SpoolStatus): string {
  if (bytes === 0) return "";
  const what = lines === 1 ? "1 line" : `${lines} lines`;
  return `\n${what} (${toSize(bytes)}) of what was done here ${lines === 1 ? "is" : "are"} not in the database yet.\n`;
}
