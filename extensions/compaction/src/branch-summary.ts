/** The summary of a branch that a person leaves. */
import type { CompactOptions, Entry, ExtensionAPI, Message, Services } from "@pi-agent/kernel";
import { budgetsOf } from "./budgets.ts";
import { addCalls, addListed, fileBlocks, listFiles, noFiles } from "./files.ts";
import { BRANCH_PREAMBLE } from "./prompts.ts";
import { createAsk } from "./requests.ts";
import { branchRoom, type Loaded, UNKNOWN_WINDOW } from "./settings.ts";
import { summarise } from "./summarize.ts";
import { tell } from "./told.ts";

const CHARS_PER_TOKEN = 4;
/** A summary that goes beyond what there is room for is told all the same while so much of it is not taken. */
const NEARLY_FULL = 0.9;

type BranchSummary = Awaited<ReturnType<Services["compaction"]["summarize"]>>;

/** Summarises entries, the newest first as far as there is room. Fails with `summary_failed`, `aborted`. */
export function summarizeBranch(
  { pi, gone }: Loaded,
  entries: readonly Entry[],
  { customInstructions, signal: given }: CompactOptions = {},
): Promise<BranchSummary> {
  const ctx = pi.context;
  return ctx.exclusive("summarizing", async (exclusive) => {
    const signal = AbortSignal.any([exclusive, gone, ...(given ? [given] : [])]);
    const { model } = ctx;
    const contextWindow = model && model.contextWindow > 0 ? model.contextWindow : UNKNOWN_WINDOW;
    const threshold = branchRoom(pi, contextWindow);
    const parts = newestParts(entries, threshold);
    const files = listFiles(filesOf(entries));
    const details = { readFiles: files.readFiles, modifiedFiles: files.modifiedFiles };
    if (parts.length === 0) return { summary: "No content to summarize", details };
    const fill = { model, threshold, keepRecentTokens: 0, counted: 0, estimated: 1, overhead: 0 };
    const { requestChars: maxChars, summaryTokens: maxTokens } = budgetsOf(fill);
    const { ask, spent } = createAsk(pi, { ctx, model, signal, maxTokens, purpose: "branch_summary" });
    try {
      const text = await summarise(ask, { kind: "branch", parts, focus: customInstructions, maxChars });
      const summary = [`${BRANCH_PREAMBLE}\n\n${text}`, ...fileBlocks(files)].join("\n\n");
      return { summary, usage: spent.usage, details };
    } catch (thrown) {
      if (!signal.aborted) spent.record();
      throw toFailure(pi, thrown, signal);
    }
  });
}

function newestParts(entries: readonly Entry[], roomTokens: number): string[] {
  const room = roomTokens * CHARS_PER_TOKEN;
  const omitted = new Set(entries.flatMap((entry) => (isOmission(entry) ? [entry.targetId] : [])));
  const parts: string[] = [];
  let chars = 0;
  for (const entry of entries.toReversed()) {
    if (omitted.has(entry.id)) continue;
    const told = tell(messageIn(entry)).join("\n\n");
    if (told === "") continue;
    if (chars + told.length > room) {
      const isSummary = entry.type === "compaction" || entry.type === "branch_summary";
      // The newest is told whatever its length; a request cuts it.
      if (parts.length === 0 || (isSummary && chars < NEARLY_FULL * room)) parts.unshift(told);
      break;
    }
    chars += told.length;
    parts.unshift(told);
  }
  return parts;
}

function isOmission(entry: Entry): entry is Entry<"context_edit"> {
  return entry.type === "context_edit" && entry.replacement === null;
}

/** What an entry says; results of tools are left out. */
function messageIn(entry: Entry): Message[] {
  const timestamp = 0;
  switch (entry.type) {
    case "message": {
      const { message } = entry;
      if (message.role === "bashExecution") {
        const content = `Ran \`${message.command}\``;
        return message.excludeFromContext ? [] : [{ role: "user", content, timestamp }];
      }
      return message.role === "system" || message.role === "toolResult" ? [] : [message];
    }
    case "custom_message":
      return [{ role: "user", content: entry.content, timestamp }];
    case "compaction":
    case "branch_summary":
      return [{ role: "user", content: `Summary of what came before:\n${entry.summary}`, timestamp }];
    default:
      return [];
  }
}

function filesOf(entries: readonly Entry[]) {
  const files = noFiles();
  for (const entry of entries) {
    if (entry.type === "branch_summary") addListed(files, entry);
    if (entry.type === "message" && (entry.message.role === "assistant" || entry.message.role === "toolResult")) {
      addCalls(files, [entry.message]);
    }
  }
  return files;
}

function toFailure(pi: Pick<ExtensionAPI, "error">, thrown: unknown, signal: AbortSignal): Error {
  if (signal.aborted) {
    const hint = "Ask for it again, or go there without a summary.";
    return pi.error("aborted", "The summary of the branch was aborted.", { hint, cause: thrown });
  }
  if (thrown instanceof Error && "code" in thrown) return thrown;
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  return pi.error("summary_failed", `The branch could not be summarised: ${why.replace(/[.\s]+$/, "")}.`, {
    hint: "Try again, choose another model, or go there without a summary.",
    cause: thrown,
  });
}
