/**
 * Where a run may turn: hooks that add entries and decide how it goes on.
 * What handlers draft is checked with each answer, and appended together when all have answered.
 */
import type { MaybePromise, Outcome, Owner } from "./contract.ts";
import { type Core, HOST_OWNER } from "./core.ts";
import { AgentError } from "./errors.ts";
import type { HookResult } from "./hook-points.ts";
import type { AssistantMessage, Draft, ToolResultMessage } from "./messages.ts";
import type { Run } from "./run.ts";

export interface Decision {
  continue?: boolean;
  stop?: boolean;
}
type Name = "turn_end" | "agent_before_settle";

/**
 * The event of a boundary. What the handlers before one propose is made when somebody looks, and does not travel over
 * the wire. The getters are the class's: getters of the object's own would give every event a shape of its own.
 */
class Proposal {
  readonly #core: Core;
  readonly #drafts: Draft[] = [];
  readonly #decision: Decision = {};
  #decider = HOST_OWNER;

  constructor(core: Core) {
    this.#core = core;
  }

  get entries(): readonly Draft[] {
    return [...this.#drafts];
  }

  get continue(): boolean | undefined {
    return this.#decision.continue;
  }

  get context() {
    this.#core.transcript.sealProjected();
    return preview(this.#core, this.#drafts);
  }

  /** Asks what is to become of the run, and appends what the handlers drafted. */
  static decide(event: Proposal & { readonly type: Name }): MaybePromise<Decision> {
    const { hooks } = event.#core;
    Object.freeze(event);
    const asked = hooks.collect<Name>(hooks.at[event.type], event, (answer, owner) => event.#take(answer, owner));
    return asked ? asked.then(() => event.#settle(event.type)) : event.#settle(event.type);
  }

  #take({ entries, ...wish }: HookResult<"turn_end"> & object, owner: Owner): void {
    this.#drafts.push(...this.#core.toProposed(entries));
    for (const key of ["continue", "stop"] as const) {
      if (typeof wish[key] === "boolean") this.#decision[key] = wish[key];
    }
    this.#decider = owner;
  }

  #settle(event: Name): Decision {
    const core = this.#core;
    core.appendWhole(this.#drafts);
    if (this.#decision.continue && !preview(core, []).canContinue) {
      this.#decision.continue = undefined;
      core.report({ owner: this.#decider, event, error: nothingToAnswer(event) });
    }
    return this.#decision;
  }
}

class TurnEnd extends Proposal {
  readonly type = "turn_end";
  readonly runId: string;
  readonly turnIndex: number;
  readonly message: AssistantMessage;
  readonly toolResults: readonly ToolResultMessage[];
  readonly messageEntryId: string;
  readonly toolResultEntryIds: readonly string[];
  readonly outcome: Outcome;

  constructor(core: Core, { id, turnIndex }: Run, { message, entryId, results, outcome }: Turn) {
    super(core);
    this.runId = id;
    this.turnIndex = turnIndex;
    this.message = message;
    this.toolResults = Object.freeze(results.messages);
    this.messageEntryId = entryId;
    this.toolResultEntryIds = results.entryIds;
    this.outcome = outcome;
  }
}

class BeforeSettling extends Proposal {
  readonly type = "agent_before_settle";
  readonly runId: string;
  readonly outcome: Outcome;

  constructor(core: Core, { id }: Run, outcome: Outcome) {
    super(core);
    this.runId = id;
    this.outcome = outcome;
  }
}

/** What became of a turn. */
interface Turn {
  message: AssistantMessage;
  entryId: string;
  results: { readonly messages: ToolResultMessage[]; readonly entryIds: readonly string[] };
  outcome: Outcome;
}

/** Asks how a run goes on after a turn. */
export function decideTurn(core: Core, run: Run, turn: Turn): MaybePromise<Decision> {
  return Proposal.decide(new TurnEnd(core, run, turn));
}

/** Asks whether a run goes on that would settle. */
export function decideSettling(core: Core, run: Run, outcome: Outcome): MaybePromise<Decision> {
  return Proposal.decide(new BeforeSettling(core, run, outcome));
}

function preview({ transcript, queue }: Core, drafts: readonly Draft[]) {
  const { steering, followUp } = queue.peek();
  const messages = transcript.preview(drafts);
  const pendingMessages = [...steering, ...followUp];
  const canContinue = pendingMessages.length > 0 || (messages.at(-1)?.role ?? "assistant") !== "assistant";
  return { messages, pendingMessages, canContinue };
}

function nothingToAnswer(name: Name): AgentError {
  return new AgentError(
    "cannot_continue",
    `Its handler for ${name} wants to go on, but the last word is the model's.`,
    {
      hint: "Return a custom_message in `entries` beside `continue: true`, for the model to answer.",
    },
  );
}
