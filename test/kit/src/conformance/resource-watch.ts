import { AsyncLocalStorage, createHook, executionAsyncId } from "node:async_hooks";

/** Something that goes on living by itself, such as a timer, a server or a child process. */
export interface LiveResource {
  id: number;
  /** Node's own word for it. */
  type: string;
  /** The line of code that made it. */
  origin: string;
  resource: object;
}

/** The kinds that live until somebody ends them. */
const LONG_LIVED = new Set([
  "Timeout",
  "Immediate",
  "TCPSERVERWRAP",
  "TCPWRAP",
  "TLSWRAP",
  "PIPESERVERWRAP",
  "PIPEWRAP",
  "UDPWRAP",
  "TTYWRAP",
  "SIGNALWRAP",
  "PROCESSWRAP",
  "FSEVENTWRAP",
  "STATWATCHER",
  "WORKER",
  "MESSAGEPORT",
  "HTTP2SESSION",
]);
/** The kinds that reach for another machine. */
const NETWORK = new Set(["TCPCONNECTWRAP", "GETADDRINFOREQWRAP", "GETNAMEINFOREQWRAP", "UDPSENDWRAP", "QUERYWRAP"]);
/** Node keeps these for itself, and nobody can end them: a signal's timeout, pooled sockets, the standard streams. */
const KEPT_BY_NODE = /node:internal\/(?:abort_controller|deps\/undici|bootstrap)|node:_http_agent/;
/** The talk of a test runner with its workers. */
const KEPT_BY_RUNNER = /\/node_modules\/(?:vitest|vite|birpc|tinypool)\//;
const STACK_DEPTH = 40;
const POLL_MS = 5;

/** Watches what code leaves alive, whoever calls it and however late. */
export class ResourceWatch implements Disposable {
  /** How often the code reached for the network. */
  networkUses = 0;
  private readonly inside = new AsyncLocalStorage<ResourceWatch>();
  private readonly alive = new Map<number, LiveResource>();
  /** How things were made, and on whose behalf; a stack is read only where it is asked for, which costs far more. */
  private readonly makings = new Map<number, { stack: Error; parent: number }>();
  private readonly hook = createHook({
    init: (id, type, _trigger, resource) => this.enter(id, type, resource),
    destroy: (id) => void this.alive.delete(id),
  }).enable();

  /** Runs code under watch, and all that it starts. */
  run<T>(fn: () => T): T {
    return this.inside.run(this, fn);
  }

  /** Whether the code that is running was started under watch. */
  get isInside(): boolean {
    return this.inside.getStore() === this;
  }

  /** What is alive now, oldest first. */
  live(): LiveResource[] {
    return [...this.alive.values()];
  }

  /** Waits until nothing beyond `known` is alive, but no longer than `ms`; answers what still is. */
  async settle(ms: number, known: readonly LiveResource[] = []): Promise<LiveResource[]> {
    const ids = new Set(known.map(({ id }) => id));
    const left = () => this.live().filter(({ id }) => !ids.has(id));
    const until = performance.now() + ms;
    do await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    while (left().length > 0 && performance.now() < until);
    return left();
  }

  /** Stops watching, and ends what is still alive. */
  [Symbol.dispose](): void {
    this.hook.disable();
    for (const { resource } of this.live()) end(resource);
    this.alive.clear();
  }

  private enter(id: number, type: string, resource: object): void {
    // Promises are many, and nothing that goes on by itself.
    if (type === "PROMISE" || !this.isInside) return;
    if (NETWORK.has(type)) this.networkUses++;
    const stack = takeStack();
    this.makings.set(id, { stack, parent: executionAsyncId() });
    if (!LONG_LIVED.has(type)) return;
    const { frame, internals } = readStack(stack);
    if (internals.some((line) => KEPT_BY_NODE.test(line))) return;
    if (frame !== undefined && KEPT_BY_RUNNER.test(frame)) return;
    this.alive.set(id, { id, type, origin: this.originOf(id), resource });
  }

  /** Where something was made; for what node made, where that was made on whose behalf it did. */
  private originOf(id: number): string {
    const making = this.makings.get(id);
    if (!making) return UNKNOWN;
    const { frame } = readStack(making.stack);
    return frame === undefined ? this.originOf(making.parent) : placeOf(frame);
  }
}

const UNKNOWN = "an unknown place";

function takeStack(): Error {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = STACK_DEPTH;
  const stack = new Error();
  Error.stackTraceLimit = limit;
  return stack;
}

/** The frame whose code was running, and those of node that it called. */
function readStack({ stack = "" }: Error): { frame?: string; internals: string[] } {
  const frames = stack
    .split("\n")
    .slice(1)
    .filter((line) => !line.includes(import.meta.filename));
  const at = frames.findIndex((line) => !line.includes("node:"));
  return at < 0 ? { internals: frames } : { frame: frames[at]!, internals: frames.slice(0, at) };
}

function placeOf(frame: string): string {
  return frame.trim().replace(/^at /, "").replace("file://", "");
}

/** Timers are cleared; handles are closed, processes killed. */
function end(resource: object): void {
  const { close, kill, terminate } = resource as Record<"close" | "kill" | "terminate", unknown>;
  if ("_onTimeout" in resource) clearTimeout(resource as NodeJS.Timeout);
  else if ("_onImmediate" in resource) clearImmediate(resource as NodeJS.Immediate);
  else if (typeof kill === "function") kill.call(resource, 9);
  else if (typeof terminate === "function") terminate.call(resource);
  else if (typeof close === "function") close.call(resource);
}
