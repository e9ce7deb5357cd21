import { readlinkSync } from "node:fs";
import { join } from "node:path";
import { type ProjectView, Refusal } from "./file-view.ts";
import { isInside, lookAt, realPathOf } from "./places.ts";
import type { Member } from "./plan.ts";

// From T2: a folder's dependencies are followed like any file up to this.
const MAX_FILES = 2_000;
const MAX_BYTES = 20 << 20;
const MAX_DEPTH = 32;

/**
 * Reads everything that belongs to a resource: the file, or all files below its folder. A link counts by its target,
 * which must lie in the same folder. Fails with a `Refusal`.
 */
export function readMembers(view: ProjectView, root: string, maxFileBytes?: number): Member[] {
  if (view.kindOf(root) !== "folder") return [readMember(view, root, maxFileBytes)];
  const members: Member[] = [];
  let bytes = 0;
  const add = (member: Member) => {
    members.push(member);
    bytes += member.content.length;
    if (members.length > MAX_FILES) throw new Refusal(`has more than ${MAX_FILES} files`);
    if (bytes > MAX_BYTES) throw new Refusal(`is larger than ${MAX_BYTES >> 20} MB`);
  };
  const walk = (folder: string, depth: number) => {
    if (depth > MAX_DEPTH) throw new Refusal(`is nested deeper than ${MAX_DEPTH} folders`);
    // What git keeps is no part of a resource, and is never looked into.
    for (const name of view.list(folder).filter((each) => each !== ".git")) {
      const path = join(folder, name);
      const kind = view.kindOf(path);
      if (kind === "folder") walk(path, depth + 1);
      else if (kind === "link") add(readLink(root, path));
      else if (kind !== "missing") add(named(path, () => readMember(view, path, maxFileBytes)));
    }
  };
  walk(root, 0);
  return members;
}

function readMember(view: ProjectView, path: string, maxFileBytes?: number): Member {
  const isExecutable = ((lookAt(path)?.mode ?? 0) & 0o111) !== 0;
  return { path, type: isExecutable ? "executable" : "file", content: view.read(path, maxFileBytes) };
}

function readLink(root: string, path: string): Member {
  if (!isInside(realPathOf(path), root)) throw new Refusal(`holds a link that leaves it: ${path}`);
  return { path, type: "link", content: Buffer.from(readlinkSync(path)) };
}

/** Names the file that makes a whole folder refused. */
function named(path: string, read: () => Member): Member {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof Refusal) throw new Refusal(`holds a file that ${thrown.message}: ${path}`, { cause: thrown });
    throw thrown;
  }
}
