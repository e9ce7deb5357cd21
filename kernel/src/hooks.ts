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
import type { Account } from "./account.ts";
import type { Context, MaybePromise, Owner, Undo } from "./contract.ts";
import { Deadlines, type Expiry, expired, type Watch } from "./deadlines.ts";
import { AgentError, toAgentError } from "./errors.ts";
import { currentFrame, type Entrance, entranceOf, type Frame } from "./frames.ts";
import type { HookName, HookResult, Way } from "./hook-points.ts";
import { COMBINE } from "./hook-ways.ts";
import { declareKernelPoints } from "./kernel-points.ts";
import { isPromise, isRecord } from "./values.ts";

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
/** From E6: a handler of a hot hook that takes longer is told about. */
const SLOW_MS = 250;
/** Every dispatch is timed until a point was fired so often; afterwards one in so many, which then counts for all. */
const SAMPLE = 32;
/** One dispatch in so many is clocked as a whole, so that a point that blocks is found out. */
const CLOCKED = 8;

type AnyHandler = (event: unknown, ...more: unknown[]) => unknown;
export interface HandlerRecord {
  owner: Owner;
  order: number;
  handler: AnyHandler;
  context: Context;
  account?: Account;
  /** Its extension is gone when it says so. */
  scope?: { readonly isActive: boolean };
}
export interface PointState {
  readonly name: string;
  /** Handlers may come before the package that declares their point. */
  declared: boolean;
  way: Way;
  wire: boolean;
  /** Fired in every turn: a slow handler is felt. */
  hot: boolean;
  onFault: "refuse" | "continue";
  /** Replaced, never changed: a dispatch goes on with the array it began with. */
  handlers: readonly HandlerRecord[];
  /** How often it was fired while somebody listened. */
  fired: number;
  /** It blocked once, so each of its handlers is timed from now on. */
  isSlow: boolean;
}
/** Gets each handler's answer; answers `true` when no further handler is to be asked, or the event that the next one gets. */
type Take = (answer: unknown, owner: Owner) => boolean | object | void;

export interface HookFault {
  owner: Owner;
  event: string;
  error: AgentError;
}
export interface HookOptions {
  way: Way;
  wire?: boolean;
  onFault?: "refuse" | "continue";
}

export function heard(point: PointState): boolean {
  return point.handlers.length > 0;
}

/** A way through the handlers of a point. */
interface Dispatch {
  point: PointState;
  event: object;
  take: Take;
  handlers: readonly HandlerRecord[];
  /** How many dispatches each of its timings stands for; 0: it is not timed. */
  weight: number;
}

export class HookTable {
  /** Every point by its name. */
  readonly at = {} as Record<HookName | (string & {}), PointState>;
  private readonly followers = new Set<(point: PointState) => void>();
  readonly deadlines = new Deadlines();
  private readonly report: (fault: HookFault) => void;
  private readonly unheard = new Set<string>();
  /** Errors that were reported on their way through `provider_call`. */
  private readonly told = new WeakSet<object>();

  constructor(report: (fault: HookFault) => void) {
    this.report = report;
    declareKernelPoints(this);
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
    if (Object.hasOwn(this.at, name)) return this.at[name]!;
    const point: PointState = {
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
    this.at[name] = point;
    return point;
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
    return this.ask(point, event, (answer, owner) => (isRecord(answer) ? take(answer as never, owner) : undefined));
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
    return this.ask(point, event, nothing);
  }

  /** Asks every handler; `take` gets the answers one by one. */
  ask(point: PointState, first: object, take: Take): MaybePromise<void> {
    const { handlers } = point;
    let event = first;
    if (handlers.length === 0) return;
    const fired = ++point.fired;
    const weight = fired <= SAMPLE || point.isSlow ? 1 : fired % SAMPLE === 0 ? SAMPLE : 0;
    const isClocked = weight > 0 || fired % CLOCKED === 0;
    const here = currentFrame();
    const begunAt = isClocked ? performance.now() : 0;
    let startedAt = begunAt;
    for (let at = 0; at < handlers.length; at++) {
      const record = handlers[at]!;
      if (record.scope?.isActive === false) continue;
      const entrance = entranceOf(record.owner, here);
      const answer = this.call(point, record, { event, entrance });
      if (isPromise(answer)) {
        const waiting = new Waiting(this, { point, event, take, handlers, weight });
        return waiting.begin({ at, frame: entrance.frame, answer, startedAt });
      }
      if (weight > 0) {
        const now = performance.now();
        this.count(point, record, { ms: now - startedAt, weight });
        startedAt = now;
      }
      const next = this.taken(point, record.owner, take, answer);
      if (next === true) break;
      if (typeof next === "object") event = next;
    }
    if (isClocked && point.hot && performance.now() - begunAt > SLOW_MS) point.isSlow = true;
  }

  /** Wraps `call` in the handlers, the first one outermost. One that throws fails the call (K13): it may be a budget. */
  around<E, T>(point: PointState, request: E, call: (request: E) => AsyncIterable<T>, owner: Owner): AsyncIterator<T> {
    let next = owned(owner, call, (thrown) => this.excuse(thrown));
    for (const { owner: wrapper, handler, context } of point.handlers.toReversed()) {
      const inner = next;
      const wrapped = (given: E) => handler(given, inner, context) as AsyncIterable<T>;
      next = owned(wrapper, wrapped, (thrown) => this.blame(point, wrapper, thrown));
    }
    return next(request);
  }

  call(point: PointState, record: HandlerRecord, to: { event: object; entrance: Entrance }): unknown {
    try {
      return to.entrance.resource.runInAsyncScope(record.handler, undefined, to.event, record.context);
    } catch (thrown) {
      return this.fault(point, record.owner, thrown);
    }
  }

  /** An answer of the wrong shape is a fault of its owner, and leaves the last good value. */
  taken(point: PointState, owner: Owner, take: Take, answer: unknown): ReturnType<Take> {
    try {
      return take(answer, owner);
    } catch (thrown) {
      return take(this.fault(point, owner, thrown), owner);
    }
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

/**
 * A dispatch that has come to a handler that it waits for, and goes on through the others from there. One that is late is
 * given up: the dispatch goes on without it, and what it answers afterwards counts for nothing.
 */
class Waiting implements Watch {
  frame!: Frame;
  leftMs = 0;
  private readonly table: HookTable;
  private readonly dispatch: Dispatch;
  private at = 0;
  private startedAt = 0;
  /** Grows when a handler is given up, so that its answer is told from the next one's. */
  private round = 0;
  private isPending = false;
  private end!: () => void;

  constructor(table: HookTable, dispatch: Dispatch) {
    this.table = table;
    this.dispatch = dispatch;
  }

  begin(first: { at: number; frame: Frame; answer: Promise<unknown>; startedAt: number }): Promise<void> {
    this.at = first.at;
    this.frame = first.frame;
    this.startedAt = first.startedAt;
    return new Promise((resolve) => {
      this.end = resolve;
      this.table.deadlines.add(this);
      void this.follow(first.answer);
    });
  }

  expire(why: Expiry): void {
    const { point } = this.dispatch;
    this.round++;
    if (this.isPending) this.frame.pending--;
    this.isPending = false;
    const answer = this.table.fault(point, this.record.owner, late(this.record.owner, point, why));
    if (this.take(answer)) void this.follow(this.next());
  }

  private async follow(first: unknown): Promise<void> {
    const { round } = this;
    for (let answer = first; round === this.round; answer = this.next()) {
      if (isPromise(answer)) {
        this.wait();
        try {
          answer = await answer;
        } catch (thrown) {
          if (round === this.round) answer = this.table.fault(this.dispatch.point, this.record.owner, thrown);
        }
        // It was given up meanwhile.
        if (round !== this.round) return;
        this.release();
      }
      if (!this.take(answer)) return;
    }
  }

  private get record(): HandlerRecord {
    return this.dispatch.handlers[this.at]!;
  }

  private wait(): void {
    this.leftMs = DEADLINE_MS[this.dispatch.point.way];
    this.isPending = true;
    this.frame.pending++;
  }

  private release(): void {
    if (!this.isPending) return;
    this.isPending = false;
    this.frame.pending--;
    const { point } = this.dispatch;
    this.table.tellSlow(point, this.record, DEADLINE_MS[point.way] - this.leftMs);
  }

  /** Takes an answer; answers whether another handler is to be asked. */
  private take(answer: unknown): boolean {
    const { point, handlers, take, weight } = this.dispatch;
    const { owner, account } = this.record;
    if (weight > 0 && account) account.hookMs += weight * (performance.now() - this.startedAt);
    const next = this.table.taken(point, owner, take, answer);
    if (typeof next === "object") this.dispatch.event = next;
    if (next !== true && this.at + 1 < handlers.length) return true;
    this.table.deadlines.remove(this);
    this.end();
    return false;
  }

  private next(): unknown {
    const { point, handlers, event, weight } = this.dispatch;
    const record = handlers[++this.at]!;
    if (record.scope?.isActive === false) return undefined;
    const entrance = entranceOf(record.owner);
    this.frame = entrance.frame;
    this.startedAt = weight > 0 ? performance.now() : 0;
    return this.table.call(point, record, { event, entrance });
  }
}

/** A stream whose code runs in its owner's name, and whose failures become what `toError` makes of them. */
class OwnedStream<T> implements AsyncIterableIterator<T> {
  private readonly resource: Entrance["resource"];
  private readonly iterator: AsyncIterator<T>;
  private readonly fail: (thrown: unknown) => never;

  constructor(resource: Entrance["resource"], stream: AsyncIterable<T>, fail: (thrown: unknown) => never) {
    this.resource = resource;
    this.iterator = resource.runInAsyncScope(() => stream[Symbol.asyncIterator]());
    this.fail = fail;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T>> {
    return this.resource.runInAsyncScope(() => this.iterator.next()).then(undefined, this.fail);
  }

  return(): Promise<IteratorResult<T>> {
    const end = () => this.iterator.return?.() ?? Promise.resolve({ done: true as const, value: undefined });
    return this.resource.runInAsyncScope(end).then(undefined, this.fail);
  }
}

/** A call in its owner's name. One that answers what the call that it wraps answered is out of the way from then on. */
function owned<E, T>(
  owner: Owner,
  call: (request: E) => AsyncIterable<T>,
  toError: (thrown: unknown) => Error,
): (request: E) => AsyncIterableIterator<T> {
  const fail = (thrown: unknown): never => {
    throw toError(thrown);
  };
  return (request) => {
    const { resource } = entranceOf(owner);
    try {
      const stream: unknown = resource.runInAsyncScope(() => call(request));
      if (stream instanceof OwnedStream) return stream as OwnedStream<T>;
      if (!isStream(stream)) throw noStream(owner);
      return new OwnedStream(resource, stream as AsyncIterable<T>, fail);
    } catch (thrown) {
      return fail(thrown);
    }
  };
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

function noStream(owner: Owner): AgentError {
  return new AgentError(
    "malformed_response",
    `${owner.name} answered a provider call with something that is no stream.`,
    {
      hint: "Answer an async iterable at once: an async generator, or what next(request) answers; not a promise of one.",
      owner: owner.name,
    },
  );
}

function late(owner: Owner, point: PointState, why: Expiry): AgentError {
  return expired(owner, { what: `Its handler for ${point.name}`, why, limitMs: DEADLINE_MS[point.way] });
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

function nothing(): void {}
