/** What others want stored: copied, held to its shape, sealed. Everything here fails with `invalid_entry`. */
import type { Transcript } from "./contract.ts";
import { AgentError } from "./errors.ts";
import type { Draft, Message } from "./messages.ts";
import { draftProblem, shapeProblem } from "./shapes.ts";
import { copyPlain, seal } from "./values.ts";

/** A message fit to be stored. */
export function toMessage(given: string | Message): Message {
  const message: Message =
    typeof given === "string" ? { role: "user", content: given, timestamp: Date.now() } : (copyPlain(given) as Message);
  const problem = seal(message) ?? shapeProblem(message);
  if (problem) throw invalidEntry(problem);
  return message;
}

/** What a hook drafts, as far as it may: messages come by prompts, tools and providers only. */
export function toProposed(given: unknown, transcript: Transcript): Draft[] {
  const drafts = toDrafts(given, transcript);
  if (drafts.some(({ type }) => type === "message")) throw invalidEntry("a hook may not add a message entry");
  return drafts;
}

/** Copies of drafts that a transcript can take: JSON, with targets that exist. */
export function toDrafts(given: unknown, transcript: Transcript): Draft[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw invalidEntry("the entries are not a list");
  return given.map((each: unknown) => {
    const draft = copyPlain(each) as Draft;
    const problem = seal(draft) ?? draftProblem(draft);
    if (problem) throw invalidEntry(problem);
    const target = draft.type === "context_edit" || draft.type === "label" ? draft.targetId : undefined;
    if (target !== undefined && !transcript.get(target)) throw invalidEntry(`there is no entry ${target}`);
    return draft;
  });
}

function invalidEntry(problem: string): AgentError {
  return new AgentError("invalid_entry", `This cannot be stored in a transcript: ${problem}.`, {
    hint: "Store plain JSON: no functions, no cycles, no class instances.",
  });
}
