/** Words for the model that lie beside the work: AGENTS.md and its like. They load without trust, if they are one's own. */
import { type BigIntStats, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Found } from "./discover.ts";
import { type FileView, INSIDE, Refusal } from "./file-view.ts";

/** In each folder the first of these that can be used is the one. */
const CONTEXT_FILE_NAMES = ["AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"];

// A prompt of more than this would be no use to a model.
export const MAX_TEXT_BYTES = 1 << 20;

/** Finds a folder's context file, and those before it that had to be passed over. */
export function findContextFile(view: FileView, folder: string): Found[] {
  const passedOver: Found[] = [];
  for (const path of CONTEXT_FILE_NAMES.map((name) => join(folder, name))) {
    if (view.kindOf(path) === "missing") continue;
    const refusal = findFault(view, path);
    // A link beside a file mostly leads to that very file.
    if (refusal === undefined) return [...passedOver.filter((each) => each.refusal !== LINK), { path, root: path }];
    passedOver.push({ path, root: path, refusal });
  }
  return passedOver;
}

const LINK = "is a link";

function findFault(view: FileView, path: string): string | undefined {
  const kind = view.kindOf(path);
  if (kind === "link") return LINK;
  if (kind === "project") return INSIDE;
  if (kind !== "file") return kind === "folder" ? "is a folder" : "is not a regular file";
  try {
    const before = statSync(path, { bigint: true });
    if (before.size > MAX_TEXT_BYTES) return "is larger than 1 MB";
    const fault = findStranger(before, path);
    if (fault !== undefined) return fault;
    if (view.read(path, MAX_TEXT_BYTES).length > MAX_TEXT_BYTES) return "is larger than 1 MB";
    const after = statSync(path, { bigint: true });
    // Whose it is says nothing about what was read, where another file may have been there in between.
    return isSame(before, after) ? undefined : "changed while it was read";
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown.message;
    return `cannot be read (${(thrown as NodeJS.ErrnoException).code})`;
  }
}

/** Says why a file may be another user's words (F038); `undefined` when it is the person's own or root's. */
function findStranger(file: BigIntStats, path: string): string | undefined {
  const me = process.geteuid?.();
  if (me === undefined) return undefined;
  if (file.uid !== BigInt(me) && file.uid !== 0n) return "belongs to another user";
  if (file.mode & 0o002n) return "may be written by everyone";
  const folder = statSync(dirname(path));
  return folder.mode & 0o002 && folder.uid !== me ? "lies in a folder that everyone may write to" : undefined;
}

/** Moving a file away and back changes its `ctime`. */
function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino && one.ctimeNs === other.ctimeNs && one.size === other.size;
}
