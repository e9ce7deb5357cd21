/** Goes to another entry of the session. Only the leaf moves: the files that tools changed stay as they are. */
import { type Agent, AgentError, type Draft, type Entry, type NavigateOptions, toAgentError } from "@pi-agent/kernel";
import { type ChangeAnswer, sessionsOf } from "./sessions-service.ts";
import { leafFor, leftBehind } from "./tree.ts";

interface Move {
  entryId: string;
  options: NavigateOptions;
  /** Fires when the agent is disposed of. */
  signal: AbortSignal;
  settle: () => Promise<void>;
}

/** Moves the leaf. Fails with `no_service` where a summary is asked for and nothing that is loaded makes one. */
export async function navigate(
  agent: Agent,
  { entryId, options, signal, settle }: Move,
): Promise<{ cancelled: boolean }> {
  const { transcript } = agent;
  const to = leafFor(transcript.get(entryId)!);
  if (entryId === transcript.leafId && options.label === undefined) return { cancelled: false };
  const sessions = sessionsOf(agent);
  const { summarize: userWantsSummary = false, customInstructions, label } = options;
  const { commonAncestorId, entries: entriesToSummarize } = leftBehind(transcript, { from: transcript.leafId, to });
  const place = { targetId: entryId, oldLeafId: transcript.leafId, commonAncestorId, entriesToSummarize };
  const preparation = { ...place, userWantsSummary, customInstructions, label };
  const answer = (await sessions?.fire?.("session_before_tree", { preparation, signal })) ?? {};
  if (answer.cancel) return { cancelled: true };
  await settle();
  const oldLeafId = transcript.leafId;
  let summary: Draft<"branch_summary"> | undefined;
  try {
    if (userWantsSummary) summary = await summarise(agent, { to, customInstructions, answer, signal });
  } catch (thrown) {
    if (toAgentError(thrown).code === "aborted") return { cancelled: true };
    throw thrown;
  }
  agent.moveTo(to);
  const [summaryEntry] = summary ? agent.append([summary]) : [];
  const labelled = answer.label ?? label;
  if (labelled !== undefined) {
    agent.append([{ type: "label", targetId: summaryEntry?.id ?? entryId, label: labelled || undefined }]);
  }
  const fromExtension = summary?.fromHook;
  await sessions?.fire?.("session_tree", { newLeafId: transcript.leafId, oldLeafId, summaryEntry, fromExtension });
  return { cancelled: false };
}

interface Summarise {
  to: string | null;
  customInstructions?: string;
  answer: ChangeAnswer;
  signal: AbortSignal;
}

/** Fails with `aborted`. */
async function summarise(
  agent: Agent,
  { to, customInstructions, answer, signal }: Summarise,
): Promise<Draft<"branch_summary"> | undefined> {
  const { transcript } = agent;
  const fromId = transcript.leafId ?? "root";
  if (answer.summary) return { type: "branch_summary", fromId, ...answer.summary, fromHook: true };
  const entries: readonly Entry[] = leftBehind(transcript, { from: transcript.leafId, to }).entries;
  if (entries.length === 0) return undefined;
  const compaction = agent.service("compaction");
  if (!compaction) throw noSummaries();
  const instructions = answer.customInstructions ?? customInstructions;
  const made = await agent.exclusive("summarizing", (asked) =>
    compaction.summarize(entries, {
      customInstructions: instructions,
      signal: AbortSignal.any([signal, asked]),
    }),
  );
  return { type: "branch_summary", fromId, ...made };
}

function noSummaries(): AgentError {
  return new AgentError("no_service", "Nothing that is loaded can summarise the branch that is left.", {
    hint: "Go there without a summary, or install a package that provides the service `compaction`.",
  });
}
