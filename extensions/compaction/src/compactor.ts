/**
 * One compaction, from what it would do to what was done:
 *
 *   plan ──► compaction_start ──► [session_before_compact] ──► summary ──► is it shorter? ──► appended, all or nothing
 *                                   ├─ refused                  ├─ aborted                      ▼
 *                                   └─ brings the summary       └─ unusable            session_compact, compaction_end
 *                                            session_compact_failed, compaction_end
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Draft, Entry, ExtensionAPI } from "@pi-agent/kernel";
import { type Attempt, prepare, type Work } from "./attempt.ts";
import { listFiles } from "./files.ts";
import type { CompactionResult, Reason } from "./hooks.ts";
import type { Plan } from "./plan.ts";
import { createAsk, type Requests, untilAborted } from "./requests.ts";
import { isAutomatic, type Loaded } from "./settings.ts";
import { systemRecord } from "./system-record.ts";
import { isAside, isLost, type View } from "./view.ts";
import { lostBoundary, noteOf, STATUS, statusOf, toFailure, withinAnother } from "./words.ts";
import { writeSummary } from "./write-summary.ts";

/** What was appended: the compaction; nothing but edits, where shortening was enough; or nothing at all. */
export type Done = Entry<"compaction"> | "shortened" | "nothing";

/**
 * Compacts the branch that the conversation stands on, as exclusive work. What fails leaves the conversation as it is.
 * Fails with `compaction_failed`, `compaction_cancelled`, `aborted`.
 */
export function compact(loaded: Loaded, attempt: Attempt): Promise<Done> {
  const { pi } = loaded;
  const ctx = pi.context;
  const outer = within.getStore();
  if (outer?.pi === pi && outer.isUnderWay) return Promise.reject(withinAnother(pi));
  return ctx.exclusive("compacting", async (exclusive) => {
    const signal = AbortSignal.any([exclusive, loaded.gone, ...(attempt.signal ? [attempt.signal] : [])]);
    const work = prepare({ ...attempt, ...loaded, ctx, signal });
    if (!work) return "nothing";
    if (isShortenedOnly(work)) return appendEdits(work);
    const own = { pi, isUnderWay: true };
    return within.run(own, () => perform(work)).finally(() => (own.isUnderWay = false));
  });
}

/** The compaction that whoever calls is told of: one that it asked for would tell it again, and so without end. */
const within = new AsyncLocalStorage<{ pi: ExtensionAPI; isUnderWay: boolean }>();

/** What stays is too long, and before it there is next to nothing to summarise. */
function isShortenedOnly({ plan, budgets, reason }: Work): boolean {
  if (plan.tokens === 0) return true;
  return reason !== "manual" && plan.edits.length > 0 && plan.tokens < budgets.leastTokens;
}

/** Shortens what is too long. By hand nobody asks for that. */
function appendEdits({ pi, ctx, plan, reason, signal, hide = [] }: Work): Done {
  if (reason === "manual") return "nothing";
  signal.throwIfAborted();
  pi.append([...hide, ...plan.edits]);
  ctx.ui.notify("What was too long for the context window is sent without its middle from now on.", "warning");
  return "shortened";
}

async function perform(work: Work): Promise<Entry<"compaction">> {
  const { pi, ctx, reason, willRetry, signal } = work;
  // It outlasts the extension, whose status must not stay.
  const { ui } = ctx;
  const { model, budgets } = work;
  const requests = createAsk(pi, { ctx, model, signal, maxTokens: budgets.summaryTokens, purpose: "compaction" });
  let fromExtension = false;
  if (isLost(work.view)) ui.notify(lostBoundary(work.view.previous!), "warning");
  ui.setStatus(STATUS, statusOf(reason));
  try {
    await untilAborted(pi.dispatch("compaction_start", { reason }), signal);
    const brought = await askExtensions(work);
    fromExtension = brought !== undefined;
    const result = toResult(work, brought ?? (await summarise(work, requests)));
    const compactionEntry = append(work, result, fromExtension);
    await pi.dispatch("session_compact", { compactionEntry, fromExtension, reason, willRetry });
    await pi.dispatch("compaction_end", { reason, result, aborted: false, willRetry });
    if (ctx.hasUI || reason === "manual") ui.notify(noteOf(result), "info");
    return compactionEntry;
  } catch (thrown) {
    const error = toFailure(pi, thrown, { reason, signal });
    // Who is gone tells nobody.
    if (work.gone.aborted) throw error;
    // What it cost is on record all the same, but for an abort, which leaves nothing.
    if (!signal.aborted) requests.spent.record();
    await tellFailure(pi, error, { reason, willRetry, fromExtension });
    throw error;
  } finally {
    ui.setStatus(STATUS, undefined);
  }
}

/** Tells that it came to nothing. */
export async function tellFailure(
  pi: Pick<ExtensionAPI, "dispatch">,
  error: { code: string; message: string },
  { reason, willRetry, fromExtension }: { reason: Reason; willRetry: boolean; fromExtension: boolean },
): Promise<void> {
  const aborted = error.code === "aborted" || error.code === "compaction_cancelled";
  const told = { reason, willRetry: false, aborted, errorMessage: aborted ? undefined : error.message };
  await pi.dispatch("session_compact_failed", { ...told, willRetry, fromExtension });
  await pi.dispatch("compaction_end", told);
}

type Brought = Pick<CompactionResult, "summary" | "firstKeptEntryId" | "usage" | "details"> & { tokensBefore?: number };

/** Asks whether an extension refuses it, or brings the summary. */
async function askExtensions(work: Work): Promise<Brought | undefined> {
  const { pi, plan, view, budgets, threshold, counted, model } = work;
  const { reason, willRetry, customInstructions, signal } = work;
  const preparation = {
    firstKeptEntryId: plan.firstKeptEntryId,
    messagesToSummarize: plan.history,
    turnPrefixMessages: plan.prefix,
    isSplitTurn: plan.prefix.length > 0,
    tokensBefore: counted,
    previousSummary: plan.previousSummary,
    fileOps: plan.files,
    settings: {
      enabled: isAutomatic(work),
      reserveTokens: (model?.contextWindow ?? threshold) - threshold,
      keepRecentTokens: budgets.keepTokens,
    },
  };
  const event = { preparation, branchEntries: view.path, customInstructions, reason, willRetry, signal };
  // Whoever hangs there must not hold an abort up.
  const answer = await untilAborted(pi.dispatch("session_before_compact", event), signal);
  signal.throwIfAborted();
  if (answer?.cancel) {
    throw pi.error("compaction_cancelled", "An extension refused to compact the conversation.", {
      hint: "Look for the package that listens to session_before_compact.",
    });
  }
  return answer?.compaction;
}

async function summarise({ plan, budgets, customInstructions }: Work, { ask, spent }: Requests): Promise<Brought> {
  const summary = await writeSummary(ask, plan, { focus: customInstructions, maxChars: budgets.requestChars });
  const { readFiles, modifiedFiles } = listFiles(plan.files);
  const { firstKeptEntryId } = plan;
  return { summary, firstKeptEntryId, usage: spent.usage, details: { readFiles, modifiedFiles } };
}

/** Holds a summary to what it must be: something is said in it, its boundary is on the branch, it is shorter. */
function toResult({ ctx, plan, view, counted }: Work, brought: Brought): CompactionResult {
  const { summary, firstKeptEntryId, usage, details, tokensBefore = counted } = brought;
  if (typeof summary !== "string" || summary.trim() === "") throw new Error("the summary is empty");
  const kept = keptTokens(view, plan, firstKeptEntryId);
  if (kept === undefined) throw new Error(`there is no entry ${firstKeptEntryId} on this branch to keep from`);
  if (revives(view, firstKeptEntryId)) {
    throw new Error(`the entry ${firstKeptEntryId} lies before what the compaction before this one has kept`);
  }
  const after = kept + ctx.estimateTokens([{ role: "user", content: summary, timestamp: 0 }]);
  if (after >= view.tokens) throw new Error("the summary is no shorter than what it would take the place of");
  const estimatedTokensAfter = Math.round((counted * after) / view.tokens);
  return { summary, firstKeptEntryId, tokensBefore, estimatedTokensAfter, usage, details };
}

function keptTokens({ path, items }: View, plan: Plan, firstKeptEntryId: string | null): number | undefined {
  if (firstKeptEntryId === plan.firstKeptEntryId) return plan.keptTokens;
  if (firstKeptEntryId === null) return 0;
  const from = path.findIndex(({ id }) => id === firstKeptEntryId);
  if (from < 0) return undefined;
  const ids = new Set(path.slice(from).map(({ id }) => id));
  return items.reduce((sum, { entryId, tokens }) => sum + (entryId !== undefined && ids.has(entryId) ? tokens : 0), 0);
}

/** Tells whether keeping from an entry brings back what an earlier compaction has summarised. */
function revives({ path, previous }: View, firstKeptEntryId: string | null): boolean {
  if (!previous || firstKeptEntryId === null) return false;
  const at = (id: string | null) => path.findIndex((entry) => entry.id === id);
  const boundary = at(previous.firstKeptEntryId);
  const gone = path.slice(at(firstKeptEntryId), boundary < 0 ? at(previous.id) : boundary);
  return gone.some((entry) => !isAside(entry));
}

/** Appends in one go. What was said meanwhile comes after the boundary, and so is kept. */
function append(work: Work, result: CompactionResult, fromHook: boolean): Entry<"compaction"> {
  const { pi, ctx, view, plan, signal, hide = [] } = work;
  signal.throwIfAborted();
  const path = ctx.transcript.path();
  const leaf = view.path.at(-1)?.id;
  const at = path.findIndex(({ id }) => id === leaf);
  if (at < 0 || path.slice(at + 1).some(({ type }) => type === "compaction")) {
    throw new Error("the conversation went on from another place meanwhile");
  }
  const { summary, tokensBefore, usage, details } = result;
  const firstKeptEntryId = result.firstKeptEntryId ?? path[at + 1]?.id ?? null;
  const systemMessage = systemRecord(path);
  const draft: Draft<"compaction"> = {
    type: "compaction",
    summary,
    firstKeptEntryId,
    tokensBefore,
    ...(systemMessage && { systemMessage }),
    ...(usage && { usage }),
    ...(details !== undefined && { details }),
    ...(fromHook && { fromHook }),
  };
  const edits = result.firstKeptEntryId === plan.firstKeptEntryId ? plan.edits : [];
  return pi.append([...hide, ...edits, draft]).at(-1) as Entry<"compaction">;
}
