/**
 * The one table of hook points, and the one dispatcher that serves them all.
 *
 *   dispatch ──► handler ──► handler ──► …      in load order, then registration order
 *                   └─ throws, or is late: reported with its owner; a gate refuses, anything else goes on
 *
 * 1. Nobody listening costs one look at an empty array.
 * 2. A dispatch is synchronous until a handler returns a promise, and works on a snapshot.
 * 3. A handler that is waited for costs a record and no timer; one that is not, nothing.
 */
import type { MaybePromise, Owner, Undo } from "./contract.ts";
import { DEADLINE_MS, Deadlines, type Expiry, expired } from "./deadlines.ts";
import { AgentError, toAgentError } from "./errors.ts";
import { currentFrame, type Entrance, entranceOf } from "./frames.ts";
import type { HookName, HookResult, Way } from "./hook-points.ts";
import { COMBINE } from "./hook-ways.ts";
import { POINTS } from "./kernel-points.ts";
import { owned } from "./owned-stream.ts";
import {
  type Dispatch,
  FAULT,
  type HandlerRecord,
  type HookFault,
  type HookOptions,
  type PointState,
  type Take,
} from "./points.ts";
import { isPromise, isRecord } from "./values.ts";
import { Waiting } from "./waiting.ts";

/** From E6: a handler of a hot hook that takes longer is told about. */
const SLOW_MS = 250;
/** Every dispatch is timed until a point was fired so often; afterwards one in so many, which then counts for all. */
const SAMPLE = 32;
/** One dispatch in so many is clocked as a whole, so that a point that blocks is found out. */
const CLOCKED = 8;

export class HookTable {
  /** Every point by its name. A copy of a literal keeps the shape of one, which is quick to look into. */
  readonly at = { ...POINTS } as unknown as Record<HookName | (string & {}), PointState>;
  private readonly followers = new Set<(point: PointState) => void>();
  readonly deadlines = new Deadlines();
  private readonly report: (fault: HookFault) => void;
  private readonly unheard = new Set<string>();
  /** Errors that were reported on their way through `provider_call`. */
  private readonly told = new WeakSet<object>();

  constructor(report: (fault: HookFault) => void) {
    this.report = report;
    for (const [name, row] of Object.entries(POINTS)) {
      const [way, ...more] = row.split(" ");
      this.at[name] = newPoint(name);
      this.declare(name, { way: way as Way, wire: more.includes("wire"), hot: more.includes("hot") });
    }
  }

  /** Declares a point. Fails with `hook_declared` when its name is taken. */
  declare(name: string, options: HookOptions & { hot?: boolean }): Undo {
    const point = this.point(name);
    if (point.declared) {
      throw new AgentError("hook_declared", `A hook named ${name} is declared already.`, {
        hint: "Choose another name.",
      });
    }
    const onFault = options.way === "gate" ? "refuse" : "continue";
    Object.assign(point, { wire: false, hot: false, onFault, ...options, declared: true });
    for (const follow of this.followers) follow(point);
    return () => {
      point.declared = false;
    };
  }

  point(name: HookName | (string & {})): PointState {
    if (!Object.hasOwn(this.at, name)) this.at[name] = newPoint(name);
    return this.at[name]!;
  }

  /** Reports, once each, handlers of points that nobody declares: mostly a name that is written wrongly. */
  tellUnheard(): void {
    for (const point of Object.values(this.at)) {
      if (point.declared) continue;
      for (const { owner } of point.handlers) {
        if (this.unheard.has(`${owner.name} ${point.name}`)) continue;
        this.unheard.add(`${owner.name} ${point.name}`);
        this.report({ owner, event: point.name, error: unheard(point.name) });
      }
    }
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

  on(name: string, record: HandlerRecord): Undo {
    const point = this.point(name);
    const later = point.handlers.findIndex((each) => each.order > record.order);
    const at = later < 0 ? point.handlers.length : later;
    point.handlers = point.handlers.toSpliced(at, 0, record);
    return () => {
      point.handlers = point.handlers.filter((each) => each !== record);
    };
  }

  /** Asks every handler; `take` gets those answers that are objects. */
  collect<N extends HookName>(
    point: PointState,
    event: object,
    take: (answer: HookResult<N> & object, owner: Owner) => boolean | object | void,
  ): MaybePromise<void> {
    return this.ask(point, event, take as Take, true);
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
        const refuses = point.onFault === "refuse";
        if (refuses) sum = { block: true, cancel: true, reason: `${owner.name} failed while deciding about it.` };
        return refuses;
      }
      const step = combine(sum, answer, event);
      sum = step.sum;
      return step.isLast;
    });
    return sum;
  }

  /** Tells every handler. */
  notify(point: PointState, event: object): MaybePromise<void> {
    return this.ask(point, event);
  }

  /** Tells every handler and waits for none: what it tells goes on in this very step. */
  tellAtOnce(point: PointState, event: object): void {
    const dispatch: Dispatch = { point, handlers: point.handlers, event, take: undefined, isChoosy: false, weight: 0 };
    for (const record of point.handlers) {
      const answer = this.call(dispatch, record, entranceOf(record.owner, currentFrame()));
      if (isPromise(answer)) void answer.then(undefined, (thrown) => this.fault(point, record.owner, thrown));
    }
  }

  /** Asks every handler; `take` gets the answers one by one. */
  ask(point: PointState, event: object, take?: Take, isChoosy = false): MaybePromise<void> {
    const { handlers } = point;
    if (handlers.length === 0) return;
    const fired = ++point.fired;
    const weight = fired <= SAMPLE || point.isSlow ? 1 : fired % SAMPLE === 0 ? SAMPLE : 0;
    const isClocked = weight > 0 || fired % CLOCKED === 0;
    const dispatch: Dispatch = { point, handlers, event, take, isChoosy, weight };
    const here = currentFrame();
    const begunAt = isClocked ? performance.now() : 0;
    let startedAt = begunAt;
    for (let at = 0; at < handlers.length; at++) {
      const record = handlers[at]!;
      if (record.scope?.isActive === false) continue;
      const entrance = entranceOf(record.owner, here);
      const answer = this.call(dispatch, record, entrance);
      if (isPromise(answer)) {
        return new Waiting(this, dispatch, { at, here, frame: entrance.frame, startedAt }).begin(answer);
      }
      if (weight > 0) {
        const now = performance.now();
        this.count(point, record, { ms: now - startedAt, weight });
        startedAt = now;
      }
      if (this.isLast(dispatch, record.owner, answer)) break;
    }
    if (isClocked && point.hot && performance.now() - begunAt > SLOW_MS) point.isSlow = true;
  }

  /** Wraps `call` in the handlers, the first one outermost. One that throws fails the call (K13): it may be a budget. */
  around<E, T>(point: PointState, request: E, call: (request: E) => AsyncIterable<T>, owner: Owner): AsyncIterator<T> {
    const { handlers } = point;
    if (handlers.length === 0) return owned(owner, call)(request);
    let next = owned(owner, call, (thrown) => this.excuse(thrown));
    for (let at = handlers.length - 1; at >= 0; at--) {
      const { owner: wrapper, handler, context } = handlers[at]!;
      const inner = next;
      const wrapped = (given: E) => handler(given, inner, context) as AsyncIterable<T>;
      next = owned(wrapper, wrapped, (thrown) => this.blame(point, wrapper, thrown));
    }
    return next(request);
  }

  call({ point, event }: Dispatch, { owner, handler, context }: HandlerRecord, { resource }: Entrance): unknown {
    try {
      return resource.runInAsyncScope(handler, undefined, event, context);
    } catch (thrown) {
      return this.fault(point, owner, thrown);
    }
  }

  /** Hands on an answer; answers whether no further handler is to be asked. */
  isLast(dispatch: Dispatch, owner: Owner, answer: unknown): boolean {
    const { point, take, isChoosy } = dispatch;
    if (!take || (isChoosy && !isRecord(answer))) return false;
    let next: ReturnType<Take> = undefined;
    try {
      next = take(answer, owner);
    } catch (thrown) {
      // An answer of the wrong shape is a fault of its owner, and leaves the last good value.
      const fault = this.fault(point, owner, thrown);
      if (!isChoosy) next = take(fault, owner);
    }
    if (typeof next === "object") dispatch.event = next;
    return next === true;
  }

  count(point: PointState, record: HandlerRecord, { ms, weight }: { ms: number; weight: number }): void {
    if (record.account) record.account.hookMs += weight * ms;
    this.tellSlow(point, record, ms);
  }

  /** Tells once that an extension is slow in a hot hook (E6). */
  tellSlow(point: PointState, { owner, account }: HandlerRecord, ms: number): void {
    if (ms < SLOW_MS || !point.hot || !account || account.slow.includes(point.name)) return;
    account.slow.push(point.name);
    this.report({ owner, event: point.name, error: slow(point.name, ms) });
  }

  late(point: PointState, owner: Owner, why: Expiry): typeof FAULT {
    const what = `Its handler for ${point.name}`;
    return this.fault(point, owner, expired(owner, { what, why, limitMs: DEADLINE_MS[point.way] }));
  }

  fault(point: PointState, owner: Owner, thrown: unknown): typeof FAULT {
    this.report({ owner, event: point.name, error: toAgentError(thrown, owner.name) });
    return FAULT;
  }

  /** Reports what went wrong in a wrapped call once, in the name of the innermost handler that it came out of. */
  private blame(point: PointState, owner: Owner, thrown: unknown): AgentError {
    const error = toAgentError(thrown, owner.name);
    if (!this.told.has(error)) this.report({ owner, event: point.name, error });
    this.told.add(error);
    return error;
  }

  /** What the wrapped call itself fails with is no handler's fault. */
  private excuse(thrown: unknown): AgentError {
    const error = toAgentError(thrown);
    this.told.add(error);
    return error;
  }
}

function newPoint(name: string): PointState {
  return {
    name,
    declared: false,
    way: "notify",
    wire: false,
    hot: false,
    onFault: "continue",
    handlers: [],
    fired: 0,
    isSlow: false,
  };
}

function unheard(hook: string): AgentError {
  return new AgentError("unknown_hook", `It listens to ${hook}, which nothing that is loaded fires.`, {
    hint: "Look the name up among the events, or load the package that declares it.",
  });
}

function slow(hook: string, ms: number): AgentError {
  return new AgentError(
    "hook_slow",
    `Its handler for ${hook} took ${Math.round(ms)} ms, and every turn waits for it.`,
    {
      hint: "Do the work elsewhere, or keep what it found.",
    },
  );
}
