/** What a compaction is going to do, worked out before anything is asked or written. */
import type { Draft, Entry, Message } from "@pi-agent/kernel";
import type { Budgets } from "./budgets.ts";
import { divide, findCut, firstKeptEntry } from "./cut.ts";
import { addCalls, addListed, type FileOps, noFiles } from "./files.ts";
import { cutMiddle, shorten, textOf } from "./shorten.ts";
import { sumTokens, type View } from "./view.ts";

export interface Plan {
  firstKeptEntryId: string;
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
  const cut = findCut(items, budgets.keepTokens);
  const { history, prefix, kept } = divide(items, cut);
  const byId = new Map(path.map((entry) => [entry.id, entry]));
  const { edits, savedTokens } = shorten(kept, budgets.mostTokens, (id) => byId.get(id));
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

/** What is put at the end of a summary of ours is made anew each time. */
function withoutBlocks({ summary, fromHook }: Entry<"compaction">): string {
  if (fromHook) return summary;
  return summary.replace(/\n*<(read-files|modified-files|last-request)>\n[^]*?\n<\/\1>/g, "").trim();
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
