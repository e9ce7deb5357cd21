/** Which files a conversation has read and changed, carried from summary to summary. */
import type { Entry, Json, JsonObject, Message } from "@pi-agent/kernel";

export interface FileOps {
  read: Set<string>;
  written: Set<string>;
  edited: Set<string>;
}

export interface FileLists {
  readFiles: string[];
  modifiedFiles: string[];
}

export function noFiles(): FileOps {
  return { read: new Set(), written: new Set(), edited: new Set() };
}

const TOOLS: Readonly<Record<string, keyof FileOps>> = { read: "read", write: "written", edit: "edited" };

/** Adds what calls in these messages touched, also the calls that other calls made. */
export function addCalls(files: FileOps, messages: readonly Message[]): void {
  for (const message of messages) {
    if (message.role === "toolResult") {
      const { nestedCalls } = message as { nestedCalls?: { calls?: { name: string; arguments?: JsonObject }[] } };
      for (const call of nestedCalls?.calls ?? []) addCall(files, call.name, call.arguments);
    }
    if (message.role !== "assistant") continue;
    for (const block of message.content) if (block.type === "toolCall") addCall(files, block.name, block.arguments);
  }
}

function addCall(files: FileOps, name: string, args: JsonObject | undefined): void {
  const kind = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
  if (kind && typeof args?.path === "string") files[kind].add(args.path);
}

/** Adds the lists of a summary of ours; those that an extension made may mean anything. */
export function addListed(files: FileOps, entry: Entry<"compaction" | "branch_summary"> | undefined): void {
  if (!entry || entry.fromHook) return;
  const { readFiles, modifiedFiles } = (entry.details ?? {}) as Record<string, Json | undefined>;
  for (const path of textsOf(readFiles)) files.read.add(path);
  for (const path of textsOf(modifiedFiles)) files.edited.add(path);
}

function textsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

/** A file that was changed is not listed as read. */
export function listFiles({ read, written, edited }: FileOps): FileLists {
  const modified = new Set([...edited, ...written]);
  return { readFiles: [...read].filter((path) => !modified.has(path)).sort(), modifiedFiles: [...modified].sort() };
}

/** The lists as they stand at the end of a summary. */
export function fileBlocks({ readFiles, modifiedFiles }: FileLists): string[] {
  return [blockOf("read-files", readFiles), blockOf("modified-files", modifiedFiles)].filter((block) => block !== "");
}

function blockOf(tag: string, paths: readonly string[]): string {
  if (paths.length === 0) return "";
  return [`<${tag}>`, ...paths.map((path) => path.replace(/[\r\n]+/g, " ")), `</${tag}>`].join("\n");
}
