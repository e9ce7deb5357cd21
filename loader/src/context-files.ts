/** Words for the model that lie beside the work: AGENTS.md and its like. They load without trust, if they are one's own. */
import { statSync } from "node:fs";
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
    if (refusal === undefined) return [{ path, root: path }];
    passedOver.push({ path, root: path, refusal });
  }
  return passedOver;
}

function findFault(view: FileView, path: string): string | undefined {
  const kind = view.kindOf(path);
  if (kind === "link") return "is a link";
  if (kind === "project") return INSIDE;
  if (kind !== "file") return kind === "folder" ? "is a folder" : "is not a regular file";
  try {
    if (view.read(path, MAX_TEXT_BYTES).length > MAX_TEXT_BYTES) return "is larger than 1 MB";
    return findStranger(path);
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown.message;
    throw thrown;
  }
}

/** Says why a file may be another user's words (F038); `undefined` when it is the person's own or root's. */
function findStranger(path: string): string | undefined {
  const me = process.getuid?.();
  if (me === undefined) return undefined;
  const file = statSync(path);
  if (file.uid !== me && file.uid !== 0) return "belongs to another user";
  if (file.mode & 0o002) return "may be written by everyone";
  const folder = statSync(dirname(path));
  return folder.mode & 0o002 && folder.uid !== me ? "lies in a folder that everyone may write to" : undefined;
}
