/** What a compaction is going to do, worked out before anything is asked or written. */
import type { Draft, Entry, Message } from "@pi-agent/kernel";
import type { Budgets } from "./budgets.ts";
import { divide, findCut, firstKeptEntry, nextCut, type Parts } from "./cut.ts";
import { addCalls, addListed, type FileOps, noFiles } from "./files.ts";
import { cutMiddle, isTooLong, shorten, textOf } from "./shorten.ts";
import { sumTokens, type View } from "./view.ts";

export interface Plan {
  /** None where nothing stays but the summary. */
  firstKeptEntryId: string | null;
  history: readonly Message[];
  /** The beginning of a turn whose end is kept. */
  prefix: readonly Message[];
  previousSummary?: string;
  files: FileOps;
  /** What the person wanted last, where that does not stay; without its middle where it is long. */
  request?: string;
  /** Shorten what stays and is too long. */
  edits: readonly Draft<"context_edit">[];
  /** Of what is summarised. */
  tokens: number;
  /** Of what stays, as the edits leave it. */
  keptTokens: number;
}

/** Of a request that is quoted, so much stays. */
const MAX_REQUEST_CHARS = 8_000;

/** Plans a compaction. `history` and `prefix` are empty where there is nothing to summarise. */
export function planOf(view: View, budgets: Budgets): Plan | undefined {
  const { path, items, previous } = view;
  if (items.length === 0) return undefined;
  const { cut, history, prefix, kept, edits, savedTokens } = cutToFit(view, budgets);
  const summarised = [...history, ...prefix].map(({ message }) => message);
  const files = noFiles();
  addListed(files, previous);
  addCalls(files, summarised);
  return {
    firstKeptEntryId: firstKeptEntry(path, items, cut),
    history: history.map(({ message }) => message),
    prefix: prefix.map(({ message }) => message),
    previousSummary: previous && withoutBlocks(previous),
    files,
    request: lastRequest(view, { kept: new Set(kept.map(({ entryId }) => entryId)), budgets }),
    edits,
    tokens: sumTokens(history) + sumTokens(prefix),
    keptTokens: sumTokens(kept) - savedTokens,
  };
}

/** Cuts where the tail begins, or later: what cannot be shortened and leaves no room is summarised too. */
function cutToFit(
  { path, items }: View,
  { keepTokens, mostTokens }: Budgets,
): Parts & ReturnType<typeof shorten> & { cut: number } {
  const byId = new Map(path.map((entry) => [entry.id, entry]));
  for (let cut = findCut(items, keepTokens); ; ) {
    const parts = divide(items, cut);
    const shortened = shorten(parts.kept, mostTokens, (id) => byId.get(id));
    const next = isTooLong(parts.kept, mostTokens, shortened.savedTokens) ? nextCut(items, cut) : undefined;
    if (next === undefined) return { cut, ...parts, ...shortened };
    cut = next;
  }
}

/** What is put at the end of a summary of ours is made anew each time. */
function withoutBlocks({ summary, fromHook }: Entry<"compaction">): string {
  if (fromHook) return summary;
  const unclosed = new Set<string>();
  const rest: string[] = [];
  let from = 0;
  for (const { 0: opening, 1: name, index } of summary.matchAll(/<(read-files|modified-files|last-request)>\n/g)) {
    // Where one is not closed, none after it is: without that each would be looked for up to the end.
    if (index < from || unclosed.has(name!)) continue;
    const closing = `\n</${name}>`;
    const end = summary.indexOf(closing, index + opening.length);
    if (end < 0) unclosed.add(name!);
    else {
      rest.push(summary.slice(from, index).trimEnd());
      from = end + closing.length;
    }
  }
  return [...rest, summary.slice(from)].join("").trim();
}

function lastRequest(
  { path }: View,
  { kept, budgets }: { kept: ReadonlySet<string | undefined>; budgets: Budgets },
): string | undefined {
  const hidden = new Set(path.flatMap((entry) => (isOmission(entry) ? [entry.targetId] : [])));
  const entry = path.findLast((each) => isRequest(each) && !hidden.has(each.id));
  if (!entry || kept.has(entry.id)) return undefined;
  const { content } = (entry as Entry<"message">).message as Message & { role: "user" };
  const text = textOf(content);
  return text.trim() === "" ? undefined : cutMiddle(text, Math.min(MAX_REQUEST_CHARS, budgets.requestChars / 4));
}

function isOmission(entry: Entry): entry is Entry<"context_edit"> {
  return entry.type === "context_edit" && entry.replacement === null;
}

function isRequest(entry: Entry): boolean {
  return entry.type === "message" && entry.message.role === "user";
}
