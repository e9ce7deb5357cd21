/** What the model is sent, as the handlers of `context` leave it: each looks at a list of its own, of frozen messages. */
import type { Core } from "./core.ts";
import type { Message } from "./messages.ts";
import { FAULT } from "./points.ts";
import { paired } from "./projection.ts";
import type { Run } from "./run.ts";
import { isRecord } from "./values.ts";

/** So many messages are looked up one by one; for more a set of all is made. */
const FEW = 8;

/**
 * Asks the handlers. A list that cannot be sent, returned or left behind, is a fault of its handler, and the last good
 * one goes on.
 */
export async function reviewContext(core: Core, run: Run, projected: readonly Message[]): Promise<readonly Message[]> {
  const event = new ContextEvent(run, projected, () => core.transcript.sealProjected());
  await core.hooks.ask(core.hooks.at.context, event, (answer) => {
    if (answer === FAULT) event.drop();
    else event.take(core, isRecord(answer) ? answer.messages : event.touched);
  });
  return event.good === projected ? projected : paired(event.good);
}

/** A getter of a class and not of the object: one of its own would give every event a shape of its own. */
class ContextEvent {
  readonly type = "context";
  readonly runId: string;
  readonly turnIndex: number;
  #good: readonly Message[];
  #mine: Message[] | undefined;
  readonly #onLook: () => void;

  constructor(run: Run, projected: readonly Message[], onLook: () => void) {
    this.#onLook = onLook;
    this.runId = run.id;
    this.turnIndex = run.turnIndex;
    this.#good = projected;
  }

  /** A copy is made for the first handler that looks, and only then. */
  get messages(): Message[] {
    if (this.#mine) return this.#mine;
    this.#onLook();
    return (this.#mine = [...this.#good]);
  }

  /** What a handler that returned nothing may have changed in place. */
  get touched(): Message[] | undefined {
    return this.#mine;
  }

  get good(): readonly Message[] {
    return this.#good;
  }

  /** Takes over a list. Fails when it cannot be sent. */
  take(core: Core, given: unknown): void {
    if (given === undefined || isSame(given, this.#good)) return;
    if (!Array.isArray(given) || !given.every((each) => isRecord(each))) {
      throw new Error("context must return { messages: Message[] }.");
    }
    if (given.length === 0) throw new Error("context must leave at least one message.");
    let messages = [...given] as unknown as Message[];
    if (new Set(messages).size < messages.length) throw new Error("context may not send a message twice.");
    const added = new Set(newIn(messages, this.#good));
    // What the handler holds on to is not what is sent.
    if (added.size > 0) messages = messages.map((message) => (added.has(message) ? checked(core, message) : message));
    if (isAnswered(messages) && !isAnswered(this.#good)) throw new Error("context must leave something to answer.");
    this.#good = messages;
    this.#mine = undefined;
  }

  /** Forgets what a handler that failed may have changed in place. */
  drop(): void {
    this.#mine = undefined;
  }
}

function checked(core: Core, given: Message): Message {
  const message = core.toMessage(given);
  if ((message as { role: string }).role !== "system") return message;
  throw new Error("context may not add system messages: the prompt is made of sections.");
}

function isSame(given: unknown, good: readonly Message[]): boolean {
  if (!Array.isArray(given) || given.length !== good.length) return false;
  for (let at = given.length - 1; at >= 0; at--) if (given[at] !== good[at]) return false;
  return true;
}

/** Those that are not in a list. Only what lies between a beginning and an end that both have is looked up. */
function newIn(given: readonly Message[], good: readonly Message[]): readonly Message[] {
  let from = 0;
  while (from < given.length && given[from] === good[from]) from++;
  let to = given.length;
  for (let at = good.length; to > from && at > from && given[to - 1] === good[at - 1]; at--) to--;
  const between = given.slice(from, to);
  if (between.length <= FEW) return between.filter((message) => !good.includes(message));
  const known = new Set(good);
  return between.filter((message) => !known.has(message));
}

/** The model had the last word, and calls nothing. */
function isAnswered(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  return last?.role === "assistant" && !last.content.some(({ type }) => type === "toolCall");
}
