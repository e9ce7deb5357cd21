/** Judges how a run ended: the exit code, and what a person has to be told. */
import type { AssistantMessage, Failure, FailureKind, Outcome } from "@pi-agent/kernel";
import { EXIT_CODES } from "./exit-codes.ts";
import type { Problem } from "./problem.ts";

export interface Verdict {
  code: number;
  error?: Problem;
  warning?: Problem;
}

/** Judges the last answer of a run; `undefined` when the run ended without one. */
export function judgeAnswer(answer: AssistantMessage | undefined, outcome: Outcome): Verdict {
  const { failed, answered } = EXIT_CODES;
  // Stopped after tools ran: the model would have gone on.
  if (outcome === "max_turns" || (outcome === "stopped" && answer?.stopReason === "toolUse")) {
    return {
      code: failed,
      warning: {
        what: "The run was stopped before its answer",
        why: outcome === "max_turns" ? "it reached --max-turns" : "an extension stopped it",
        hint: 'go on with: pi -c "go on"',
      },
    };
  }
  if (outcome === "aborted" || answer?.stopReason === "aborted")
    return { code: failed, error: { what: "The run was aborted" } };
  if (answer === undefined) {
    return outcome === "done" || outcome === "stopped"
      ? { code: answered }
      : { code: failed, error: { what: `The run ended without an answer (${outcome})` } };
  }
  if (answer.stopReason === "error") return { code: failed, error: describeFailure(answer) };
  if (answer.stopReason === "length") {
    return {
      code: failed,
      warning: {
        what: "The answer is cut",
        why: "the model reached its output limit",
        hint: 'ask for less at once, or: pi -c "go on"',
      },
    };
  }
  return { code: answered };
}

/** The text of an answer: every text block, each ended by a line feed. */
export function answerText(answer: AssistantMessage): string {
  return answer.content.map((block) => (block.type === "text" ? `${block.text}\n` : "")).join("");
}

function describeFailure(answer: AssistantMessage): Problem {
  return {
    what: `${answer.provider}/${answer.model} did not answer`,
    why: answer.errorMessage,
    hint: answer.failure && (answer.provider === "cassette" ? CASSETTE_HINT : hintFor(answer.failure)),
  };
}

// What is played is no model: it has no key, no limit and no outage.
const CASSETTE_HINT = "name a cassette that holds the answer: --cassette <file>; --record-cassette <file> makes one";

const HINTS: Record<FailureKind, string> = {
  auth: "check the key; pi doctor tells which keys were found",
  quota: "look at your plan with the provider, or choose another --model",
  rate_limit: "wait a moment and try again",
  overloaded: "wait a moment and try again, or choose another --model",
  server: "try again, or choose another --model",
  network: "check the connection, and the base URL in models.json if you set one",
  timeout: "try again; the server was too slow",
  context_overflow: "start a new session, or choose a --model with a larger context window",
  invalid_request: "this model does not take what was sent; try another --model",
  content_filter: "word the task differently; the provider refused it",
  malformed_response: "try again; if it stays, the server may speak another api than models.json says",
  unknown: "try again, or choose another --model",
};

function hintFor(failure: Failure): string {
  if (failure.retryAfterMs === undefined) return HINTS[failure.kind];
  return `try again in ${Math.ceil(failure.retryAfterMs / 1_000)} s`;
}
