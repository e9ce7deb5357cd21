/** Words what became of resources since they were approved: a unified diff of every text in them. */
import type { PlanChange, PlanItem } from "@pi-agent/loader";
import { spellOut, toTerminalName } from "../terminal-text.ts";
import type { Memory, Version } from "./memory.ts";
import { nameOf } from "./word-item.ts";

// Beyond so many differing lines a text counts as replaced: what is left to compare is noise.
const MAX_DIFFERENCES = 2_000;

/** Describes the difference of each resource that changed; "" where none did. */
export async function describeDifference(items: readonly PlanItem[], memory: Memory): Promise<string> {
  const parts: string[] = [];
  for (const item of items) {
    const change = memory.changeOf(item);
    if (change)
      parts.push(
        `${nameOf(item)}${change.isNew ? " was not approved before" : ""}`,
        ...(await describe(memory, item, change)),
      );
  }
  return parts.map((part) => `${part.trimEnd()}\n`).join("");
}

async function describe(memory: Memory, item: PlanItem, change: PlanChange): Promise<string[]> {
  const { isNew, removed, changed, added } = change;
  const paths = isNew ? Object.keys(item.members) : [...changed, ...added, ...removed];
  if (paths.length === 0) return ["its files are the same; which of them may be executed, or what it is, changed"];
  const parts: string[] = [];
  for (const path of paths) parts.push(await compare(toTerminalName(path), memory.versionsOf(item, path)));
  return parts;
}

async function compare(name: string, { before, now }: ReturnType<Memory["versionsOf"]>): Promise<string> {
  const [old, present] = [toText(before), toText(now)];
  const head = `--- ${before ? name : "/dev/null"}\n+++ ${now ? name : "/dev/null"}\n`;
  if (old === undefined || present === undefined) return `${head}${word(before)} before, ${word(now)} now`;
  const { createTwoFilesPatch } = await import("diff");
  const patch = createTwoFilesPatch("", "", spellOut(old), spellOut(present), undefined, undefined, {
    context: 3,
    maxEditLength: MAX_DIFFERENCES,
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: false },
  });
  return `${head}${patch ?? `${word(before)} before, ${word(now)} now: more than ${MAX_DIFFERENCES} lines differ`}`;
}

/** A text, or nothing where there was no file; `undefined` for what cannot be shown as one. */
function toText(version: Version | undefined): string | undefined {
  if (version === undefined) return "";
  if (version === "lost") return undefined;
  if ("link" in version) return `link to ${version.link}\n`;
  if (version.bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(version.bytes);
  } catch {
    // Bytes of another kind: they have a size, and no lines.
    return undefined;
  }
}

function word(version: Version | undefined): string {
  if (version === undefined) return "not there";
  if (version === "lost") return "not kept";
  return "link" in version ? "a link" : `${version.bytes.length} bytes`;
}
