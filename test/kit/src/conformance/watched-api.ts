/**
 * The `pi` that an extension under test gets: the kernel's own, with a look at what goes through it.
 *
 *   factory ──► pi.on, pi.events.on, pi.onDispose, pi.register … ──► noted ──► the kernel's
 */
import type {
  Extension,
  ExtensionAPI,
  Handler,
  HookName,
  Kind,
  Limit,
  ProviderRequest,
  Tool,
  Undo,
} from "@pi-agent/kernel";

/** What one handler cost, call by call. */
export interface HandlerRecord {
  hook: string;
  calls: number;
  /** Milliseconds until it returned, for each call. */
  syncMs: number[];
  /** Milliseconds until its promise was settled, for each call that answered one. */
  waitMs: number[];
  /** How often its promise was still open when everything else had had its turn. */
  waited: number;
}

/** What an extension did with its `pi`. */
export interface Use {
  handlers: HandlerRecord[];
  /** Bus channels that it listened to, and how often its listeners were called. */
  channels: Map<string, { calls: number }>;
  declaredHooks: string[];
  kinds: Set<Kind>;
  limits: Limit[];
  disposers: Undo[];
  /** What it called after it was unloaded. */
  lateCalls: string[];
  /** Tools that reported progress after their call was over. */
  lateUpdates: string[];
  isUnloaded: boolean;
  /** No call of a tool is going on. */
  isResting: boolean;
}

export function createUse(): Use {
  return {
    handlers: [],
    channels: new Map(),
    declaredHooks: [],
    kinds: new Set(),
    limits: [],
    disposers: [],
    lateCalls: [],
    lateUpdates: [],
    isUnloaded: false,
    isResting: true,
  };
}

/** Makes an extension that is the given one, with its use noted. */
export function watchExtension(extension: Extension, use: Use): Extension {
  const watched: Extension = (pi, options) => extension(watchApi(pi, use), options);
  return extension.options === undefined ? watched : Object.assign(watched, { options: extension.options });
}

function watchApi(pi: ExtensionAPI, use: Use): ExtensionAPI {
  const noted = noteLateCalls(pi, use, "pi.");
  const register: ExtensionAPI["register"] = (kind, name, value) => {
    use.kinds.add(kind);
    return noted.register(kind, name, kind === "tool" ? (watchTool(value as Tool, use) as typeof value) : value);
  };
  return {
    ...noted,
    owner: pi.owner,
    error: (...parts) => pi.error(...parts),
    events: noteLateCalls(watchBus(pi.events, use), use, "pi.events."),
    on: (event, handler) => noted.on(event, watchHandler(event, handler, use)),
    register,
    registerTool: (tool) => register("tool", tool.name, tool as unknown as Tool),
    declareHook(name, options) {
      use.declaredHooks.push(name);
      return noted.declareHook(name, options);
    },
    limitEffects(limit) {
      use.limits.push(limit);
      return noted.limitEffects(limit);
    },
    onDispose(undo) {
      use.disposers.push(undo);
      noted.onDispose(undo);
    },
  };
}

function noteLateCalls<T extends object>(api: T, use: Use, prefix: string): T {
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(api)) {
    copy[name] =
      typeof member === "function"
        ? (...args: unknown[]) => {
            if (use.isUnloaded) use.lateCalls.push(prefix + name);
            return (member as (...given: unknown[]) => unknown)(...args);
          }
        : member;
  }
  return copy as T;
}

function watchBus(events: ExtensionAPI["events"], use: Use): ExtensionAPI["events"] {
  return {
    on(channel, listener) {
      const record = use.channels.get(channel) ?? { calls: 0 };
      use.channels.set(channel, record);
      return events.on(channel, (data) => {
        record.calls++;
        return listener(data);
      });
    },
    emit: (channel, data) => events.emit(channel, data),
  };
}

function watchHandler<N extends HookName>(hook: N, handler: Handler<N>, use: Use): Handler<N> {
  const record: HandlerRecord = { hook, calls: 0, syncMs: [], waitMs: [], waited: 0 };
  use.handlers.push(record);
  const call = handler as (...args: unknown[]) => unknown;
  return ((...args: unknown[]) => {
    record.calls++;
    const given = hook === "provider_call" ? [fixedRequest(args[0] as ProviderRequest), ...args.slice(1)] : args;
    const startedAt = performance.now();
    const answer = call(...given);
    record.syncMs.push(performance.now() - startedAt);
    if (isPromise(answer)) noteWait(answer, startedAt, record);
    return answer;
  }) as Handler<N>;
}

/** The same request with lists that nobody can change: they are also everybody else's. */
function fixedRequest(request: ProviderRequest): ProviderRequest {
  const { messages, tools } = request;
  return { ...request, messages: Object.freeze([...messages]), tools: Object.freeze([...tools]) };
}

function noteWait(answer: Promise<unknown>, startedAt: number, record: HandlerRecord): void {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
    record.waitMs.push(performance.now() - startedAt);
  };
  answer.then(settle, settle);
  setImmediate(() => {
    if (!isSettled) record.waited++;
  });
}

/** The tool itself with another `execute`, so that its other members see what they would see. */
function watchTool(tool: Tool, use: Use): Tool {
  return Object.create(tool, {
    execute: {
      enumerable: true,
      value: ((id, args, signal, onUpdate, ctx) => {
        const noteUpdate: typeof onUpdate = (partial) => {
          if (use.isResting) use.lateUpdates.push(tool.name);
          onUpdate(partial);
        };
        return tool.execute(id, args, signal, noteUpdate, ctx);
      }) satisfies Tool["execute"],
    },
  }) as Tool;
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}
