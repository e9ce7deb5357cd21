/**
 * The one table of hook points, and the one dispatcher that serves them all.
 *
 *   dispatch ──► handler ──► handler ──► …      in load order, then registration order
 *                   └─ throws, or is late: reported with its owner; a gate refuses, anything else goes on
 *
 * 1. Nobody listening costs one look at an empty array.
 * 2. A dispatch is synchronous until a handler returns a promise, and works on a snapshot.
 * 3. Deadlines are records looked at by one shared interval; there is none while nothing is awaited.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Context, MaybePromise, Owner, Undo } from "./contract.ts";
import { AgentError, toAgentError } from "./errors.ts";
import type { HookName, Way } from "./hook-points.ts";
import { isPromise } from "./values.ts";

/** What a handler's answer becomes when it threw or was late. */
export const FAULT = Symbol("fault");

// From the contract of K13: a notice may take 5 s, an answer 30 s.
const DEADLINE_MS: Record<Way, number> = {
  notify: 5_000,
  chain: 30_000,
  gate: 30_000,
  first: 30_000,
  vote: 10_000,
  around: Number.POSITIVE_INFINITY,
};
const TICK_MS = 100;

/** A call into an extension: who it is, and whether its clock stands still. */
interface Frame {
  owner: Owner;
  /** How many questions to a person, completions or programs it waits for. */
  waiting: number;
}
const frames = new AsyncLocalStorage<Frame>();

/** The owner of the extension code that is running, also in what it left floating. */
export function currentOwner(): Owner | undefined {
  return frames.getStore()?.owner;
}

/** Runs code in the name of its owner, so that what it leaves behind can be told. */
export function runAs<T>(owner: Owner, fn: () => T): T {
  return frames.run({ owner, waiting: 0 }, fn);
}

/** Stops the clock of the handler that is running while `fn` waits for something that is not its fault. */
export async function offTheClock<T>(fn: () => Promise<T>): Promise<T> {
  const frame = frames.getStore();
  if (!frame) return fn();
  frame.waiting++;
  try {
    return await fn();
  } finally {
    frame.waiting--;
  }
}

type AnyHandler = (event: unknown, ...more: unknown[]) => unknown;
interface HandlerRecord {
  owner: Owner;
  order: number;
  handler: AnyHandler;
  context: Context;
}
export interface PointState {
  readonly name: string;
  /** Handlers may come before the package that declares their point. */
  declared: boolean;
  way: Way;
  wire: boolean;
  onFault: "refuse" | "continue";
  /** Replaced, never changed: a dispatch goes on with the array it began with. */
  handlers: readonly HandlerRecord[];
}
interface Watch {
  point: PointState;
  frame: Frame;
  leftMs: number;
  expire(): void;
}
/** Gets each handler's answer; answers `true` when no further handler is to be asked. */
type Take = (answer: unknown, owner: Owner) => boolean | void;

export interface HookFault {
  owner: Owner;
  event: string;
  error: AgentError;
}

export class HookTable {
  /** Every point by its name. */
  readonly at = Object.create(null) as Record<HookName | (string & {}), PointState>;
  private readonly followers = new Set<(point: PointState) => void>();
  private readonly watches = new Set<Watch>();
  private ticker: ReturnType<typeof setInterval> | undefined;
  private readonly report: (fault: HookFault) => void;

  constructor(report: (fault: HookFault) => void) {
    this.report = report;
    declareKernelPoints(this);
  }

  /** Declares a point. Fails with `hook_declared` when its name is taken. */
  declare(name: string, options: { way: Way; wire?: boolean; onFault?: "refuse" | "continue" }): Undo {
    const point = this.point(name);
    if (point.declared) {
      throw new AgentError("hook_declared", `A hook named ${name} is declared already.`, {
        hint: "Choose another name.",
      });
    }
    Object.assign(point, { wire: false, onFault: "refuse", ...options, declared: true });
    for (const follow of this.followers) follow(point);
    return () => {
      point.declared = false;
    };
  }

  point(name: HookName | (string & {})): PointState {
    return (this.at[name] ??= {
      name,
      declared: false,
      way: "notify",
      wire: false,
      onFault: "refuse",
      handlers: [],
    });
  }

  /** Listens to every point that travels over the wire, also to those declared later. */
  onWire(record: HandlerRecord): Undo {
    const undos = new Map<string, Undo>();
    const follow = (point: PointState) => {
      if (point.declared && point.wire && !undos.has(point.name)) undos.set(point.name, this.on(point.name, record));
    };
    for (const point of Object.values(this.at)) follow(point);
    this.followers.add(follow);
    return () => {
      this.followers.delete(follow);
      for (const undo of undos.values()) void undo();
    };
  }

  /** Fires a point in its own way, and answers what its handlers made of it. */
  async dispatch(point: PointState, given: object): Promise<unknown> {
    const event = { type: point.name, ...given };
    if (point.way === "notify") return this.notify(point, event);
    const combine = COMBINE[point.way];
    let sum: unknown;
    await this.ask(point, event, (answer, owner) => {
      if (answer === undefined) return;
      if (answer === FAULT) {
        const refuses = point.way === "gate" && point.onFault === "refuse";
        if (refuses) sum = { block: true, cancel: true, reason: `${owner.name} failed while deciding about it.` };
        return refuses;
      }
      const step = combine(sum, answer, event);
      sum = step.sum;
      return step.isLast;
    });
    return sum;
  }

  on(name: string, record: HandlerRecord): Undo {
    const point = this.point(name);
    const later = point.handlers.findIndex((each) => each.order > record.order);
    const at = later < 0 ? point.handlers.length : later;
    point.handlers = point.handlers.toSpliced(at, 0, record);
    return () => {
      point.handlers = point.handlers.filter((each) => each !== record);
    };
  }

  /** Tells every handler. */
  notify(point: PointState, event: object): MaybePromise<void> {
    if (point.handlers.length > 0) return this.each(point, event, nothing);
  }

  /** Asks every handler; `take` gets the answers one by one. */
  ask(point: PointState, event: object, take: Take): MaybePromise<void> {
    if (point.handlers.length > 0) return this.each(point, event, take);
  }

  /** Wraps `call` in the handlers, the first one outermost. */
  around<E, R>(point: PointState, request: E, call: (request: E) => R): R {
    let next = call;
    for (const record of point.handlers.toReversed()) {
      const inner = next;
      next = (given) => this.wrap(point, record, given, inner);
    }
    return next(request);
  }

  /** A handler that throws before it made the call is passed over; afterwards its failure is the call's. */
  private wrap<E, R>(point: PointState, record: HandlerRecord, given: E, call: (request: E) => R): R {
    let isCalled = false;
    const once = (request: E) => {
      isCalled = true;
      return call(request);
    };
    try {
      return runAs(record.owner, () => record.handler(given, once, record.context) as R);
    } catch (thrown) {
      this.fault(point, record.owner, thrown);
      if (isCalled) throw thrown;
      return call(given);
    }
  }

  /** Fails every handler that is being waited for: their run has been given up. */
  expireAll(): void {
    for (const watch of this.watches) watch.expire();
  }

  private each(point: PointState, event: object, take: Take, from = 0, handlers = point.handlers): MaybePromise<void> {
    for (let i = from; i < handlers.length; i++) {
      const record = handlers[i]!;
      const frame: Frame = { owner: record.owner, waiting: 0 };
      let answer: unknown;
      try {
        answer = frames.run(frame, record.handler, event, record.context);
      } catch (thrown) {
        answer = this.fault(point, record.owner, thrown);
      }
      if (isPromise(answer)) return this.resume(point, event, take, { i, handlers, frame, answer });
      if (this.taken(point, record.owner, take, answer)) return;
    }
  }

  private async resume(
    point: PointState,
    event: object,
    take: Take,
    at: { i: number; handlers: readonly HandlerRecord[]; frame: Frame; answer: Promise<unknown> },
  ): Promise<void> {
    const answer = await this.inTime(point, at.frame, at.answer);
    if (this.taken(point, at.frame.owner, take, answer)) return;
    return this.each(point, event, take, at.i + 1, at.handlers);
  }

  /** An answer of the wrong shape is a fault of its owner, and leaves the last good value. */
  private taken(point: PointState, owner: Owner, take: Take, answer: unknown): boolean | void {
    try {
      return take(answer, owner);
    } catch (thrown) {
      return take(this.fault(point, owner, thrown), owner);
    }
  }

  private inTime(point: PointState, frame: Frame, answer: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve) => {
      const end = (value: unknown) => {
        this.watches.delete(watch);
        if (this.watches.size === 0) this.stopTicking();
        resolve(value);
      };
      const limitMs = DEADLINE_MS[point.way];
      const late = () =>
        new AgentError("hook_late", `Its handler for ${point.name} did not answer within ${limitMs / 1000} s.`, {
          hint: "Answer sooner, or wait in ctx.ui, pi.complete or pi.exec, where the clock stands still.",
        });
      const watch: Watch = {
        point,
        frame,
        leftMs: limitMs,
        expire: () => end(this.fault(point, frame.owner, late())),
      };
      this.watches.add(watch);
      this.ticker ??= setInterval(() => this.tick(), TICK_MS);
      answer.then(end, (thrown: unknown) => {
        if (this.watches.has(watch)) end(this.fault(point, frame.owner, thrown));
      });
    });
  }

  private tick(): void {
    for (const watch of this.watches) {
      if (watch.frame.waiting === 0) watch.leftMs -= TICK_MS;
      if (watch.leftMs <= 0) watch.expire();
    }
  }

  private stopTicking(): void {
    clearInterval(this.ticker);
    this.ticker = undefined;
  }

  private fault(point: PointState, owner: Owner, thrown: unknown): typeof FAULT {
    this.report({ owner, event: point.name, error: toAgentError(thrown, owner.name) });
    return FAULT;
  }
}

type Combine = (sum: unknown, answer: unknown, event: object) => { sum: unknown; isLast?: boolean };

/** How the answers of a point that a package declared add up. */
const COMBINE: Record<Exclude<Way, "notify">, Combine> = {
  /** Fields replace, lists add up; the next handler finds them in its event. */
  chain(sum, answer, event) {
    const merged = merge((sum ?? {}) as Record<string, unknown>, answer as Record<string, unknown>);
    Object.assign(event, merged);
    return { sum: merged };
  },
  gate(_sum, answer) {
    const { block, cancel } = answer as { block?: boolean; cancel?: boolean };
    return { sum: answer, isLast: block === true || cancel === true };
  },
  first: (_sum, answer) => ({ sum: answer, isLast: true }),
  vote(sum, answer) {
    const before = (sum as { trusted?: string } | undefined)?.trusted;
    const { trusted, remember } = answer as { trusted?: unknown; remember?: unknown };
    if (before === "no" || (trusted !== "yes" && trusted !== "no")) return { sum };
    return { sum: { trusted, remember: remember === true } };
  },
  around: (sum) => ({ sum }),
};

function merge(sum: Record<string, unknown>, answer: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...sum };
  for (const [key, value] of Object.entries(answer)) {
    const before = merged[key];
    merged[key] = Array.isArray(before) && Array.isArray(value) ? [...before, ...(value as unknown[])] : value;
  }
  return merged;
}

function nothing(): void {}

/** The kernel's own points. Those with `wire` are forwarded by JSON and RPC mode. */
function declareKernelPoints(table: HookTable): void {
  const declare = (way: Way, names: HookName[], more: { wire?: boolean } = {}) => {
    for (const name of names) table.declare(name, { way, ...more });
  };
  declare("notify", ["agent_start", "agent_end", "agent_settled", "turn_start", "message_start", "message_update"], {
    wire: true,
  });
  declare("notify", ["tool_execution_start", "tool_execution_update", "tool_execution_end"], { wire: true });
  declare("notify", ["queue_update", "auto_retry_start", "auto_retry_end", "extension_error"], {
    wire: true,
  });
  declare("chain", ["message_end", "turn_end"], { wire: true });
  declare("notify", [
    "session_start",
    "session_shutdown",
    "model_select",
    "thinking_level_select",
    "resources_changed",
  ]);
  declare("notify", ["fault", "after_provider_response", "transcript_append", "transcript_flush"]);
  declare("chain", ["input", "before_agent_start", "before_turn", "context", "before_provider_headers"]);
  declare("chain", ["before_provider_request", "tool_result", "agent_before_settle"]);
  declare("gate", ["tool_call"]);
  declare("first", ["provider_error", "session_select"]);
  declare("around", ["provider_call"]);
}
