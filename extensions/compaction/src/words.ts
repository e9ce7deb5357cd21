import type { Entry, ExtensionAPI } from "@pi-agent/kernel";
import type { CompactionResult, Reason } from "./hooks.ts";

type AgentError = ReturnType<ExtensionAPI["error"]>;

/** The key of the line that tells that it works. */
export const STATUS = "compaction";

const STATUSES: Readonly<Record<Reason, string>> = {
  manual: "Compacting the conversation …",
  threshold: "The context window fills up: compacting the conversation …",
  overflow: "The request was too long: compacting the conversation …",
};
const FAILED: Readonly<Record<Reason, string>> = {
  manual: "Compaction failed",
  threshold: "Automatic compaction failed",
  overflow: "The request was too long, and compacting the conversation failed",
};

export function statusOf(reason: Reason): string {
  return STATUSES[reason];
}

/** Tells a person what a compaction came to. */
export function noteOf({ tokensBefore, estimatedTokensAfter }: CompactionResult): string {
  return `Compacted the conversation: ${count(tokensBefore)} tokens before, about ${count(estimatedTokensAfter)} after.`;
}

function count(tokens: number): string {
  return tokens.toLocaleString("en");
}

/** Tells that what a compaction meant to keep is not on its branch. */
export function lostBoundary({ firstKeptEntryId }: Entry<"compaction">): string {
  return `The compaction before this one was to keep the conversation from the entry ${firstKeptEntryId} on, which is not on this branch. Only its summary counts for what came before it.`;
}

/** What is thrown, with its three parts; errors of the kernel and of ours stay as they are. */
export function toFailure(
  pi: Pick<ExtensionAPI, "error">,
  thrown: unknown,
  { reason, signal }: { reason: Reason; signal: AbortSignal },
): AgentError {
  if (signal.aborted) {
    return pi.error("aborted", "The compaction was aborted; the conversation is as it was.", {
      hint: "Compact again when you want to.",
      cause: thrown,
    });
  }
  if (thrown instanceof Error && "code" in thrown && "hint" in thrown && thrown.hint) return thrown as AgentError;
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  return pi.error("compaction_failed", `${FAILED[reason]}: ${why.replace(/[.\s]+$/, "")}.`, {
    hint: "The conversation is as it was. Try /compact again, choose another model, or start a new session.",
    cause: thrown,
  });
}

/** Why a handler of a compaction's hooks may not ask for another. */
export function withinAnother(pi: Pick<ExtensionAPI, "error">): AgentError {
  return pi.error("compaction_failed", "A compaction was asked for within a compaction.", {
    hint: "Do not compact from a handler that is told of a compaction; wait until it has ended.",
  });
}

/** What is told of an error: what happened, and what to do. */
export function textOfError({ message, hint }: Pick<AgentError, "message"> & { hint?: string }): string {
  return hint ? `${message} ${hint}` : message;
}

/** Why a request that is too long stays unanswered, and what can be done about it. */
export const TOO_LONG = {
  off: "The conversation is too long for the model, and automatic compaction is off. Compact it with /compact, or choose a model with a larger context window.",
  paused:
    "The conversation is too long for the model, and automatic compaction pauses because it failed several times. Try /compact, or choose a model with a larger context window.",
  again:
    "The conversation is too long for the model even after it was compacted once for this message. Leave something out with /compact and a focus, choose a model with a larger context window, or start a new session.",
  nothing:
    "The conversation is too long for the model, and there is nothing left that a summary could take the place of. Choose a model with a larger context window, or start a new session.",
} as const;
