/** What the model is sent of a branch, message by message, each with the entry that it comes from. */
import type { Context, Entry, Message } from "@pi-agent/kernel";

export interface Item {
  message: Message;
  /** None for a result that stands for one that never came. */
  entryId: string | undefined;
  tokens: number;
}

export interface View {
  path: readonly Entry[];
  /** Without the summary of an earlier compaction. */
  items: readonly Item[];
  /** The compaction that the branch stands on. */
  previous?: Entry<"compaction">;
  /** All of it, the earlier summary too. */
  tokens: number;
}

/** Looks at a branch. The messages of `hidden` entries are left out, as they will be by edits. */
export function viewOf(
  { transcript, estimateTokens }: Pick<Context, "transcript" | "estimateTokens">,
  hidden: ReadonlySet<string> = new Set(),
): View {
  const items = transcript
    .project()
    .map((message): Item => ({ message, entryId: transcript.source(message), tokens: estimateTokens([message]) }))
    .filter(({ entryId }) => entryId === undefined || !hidden.has(entryId));
  const tokens = sumTokens(items);
  const path = transcript.path();
  const first = items[0]?.entryId;
  const previous = first === undefined ? undefined : transcript.get(first);
  if (previous?.type !== "compaction") return { path, items, tokens };
  return { path, items: items.slice(1), previous, tokens };
}

export function sumTokens(items: readonly Item[]): number {
  return items.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** Tells whether the boundary of the compaction that a branch stands on is not to be found. */
export function isLost({ path, previous }: View): boolean {
  const boundary = previous?.firstKeptEntryId ?? null;
  return boundary !== null && !path.some(({ id }) => id === boundary);
}

const SAID: readonly Entry["type"][] = ["message", "custom_message", "branch_summary", "compaction"];

/** Tells whether nothing was said on a branch since it was compacted. */
export function isJustCompacted(path: readonly Entry[]): boolean {
  return path.findLast(({ type }) => SAID.includes(type))?.type === "compaction";
}

/** Tells whether an entry only says something about others. */
export function isAside({ type }: Entry): boolean {
  return !SAID.includes(type);
}
