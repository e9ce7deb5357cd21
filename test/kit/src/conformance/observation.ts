/**
 * One life of an extension, noted from outside: most claims are judged by it.
 *
 *   load ──► what the factory left running ──► a session ──► unload ──► does anything of it still answer? ──► what is left
 */
import type { AgentError, ExtensionReport, Owner, Registered } from "@pi-agent/kernel";
import { exercise, ownOf } from "./exercise.ts";
import { type Instance, listRegistrations, openInstance } from "./instance.ts";
import type { Subject } from "./options.ts";
import { listChanges, readProcessState } from "./process-state.ts";
import { ResourceWatch } from "./resource-watch.ts";
import { watchOutput } from "./standard-output.ts";
import { catchStrayErrors } from "./stray-errors.ts";
import type { HandlerRecord } from "./watched-api.ts";

/** How long what is about to end by itself may take for it. */
const SETTLE_MS = 300;

export interface Observation {
  owner: Owner;
  report: ExtensionReport;
  /** What it registered in the kinds that have rules of their own. */
  registered: Registered<"tool" | "command" | "flag" | "cli">[];
  registrations: string[];
  /** What its factory left running, before anything had happened. */
  started: string[];
  networkUses: number;
  /** Where it was waited for in vain. */
  hung?: string;
  handlers: HandlerRecord[];
  failures: Instance["failures"];
  errors: AgentError[];
  output: string[];
  strays: unknown[];
  /** What it left behind, and what it did, after it was unloaded. */
  left: string[];
}

/** Observes an extension through its life. What it leaves in the process is taken away again. */
export async function observe(subject: Subject): Promise<Observation> {
  using strays = catchStrayErrors();
  using watch = new ResourceWatch();
  using output = watchOutput(() => watch.isInside);
  const before = readProcessState();
  const instance = await watch.run(() => openInstance(subject));
  const { owner, report, use, failures, errors } = instance;
  const started = (await watch.settle(SETTLE_MS)).map(nameOf);
  const networkUses = watch.networkUses;
  const registered = listRegistered(instance);
  const registrations = listRegistrations(instance);
  const hung = report.error ? undefined : await watch.run(() => exercise(instance, subject.given));
  const left = await watch.run(() => unload(instance));
  await watch.run(() => instance[Symbol.asyncDispose]());
  // A handler that hangs is still waited for by the agent; whose the rest is cannot be told then.
  if (hung === undefined) left.push(...(await watch.settle(SETTLE_MS)).map(nameOf));
  for (const { what, undo } of listChanges(before)) {
    left.push(what);
    undo();
  }
  left.push(...use.lateCalls.map((name) => `a call of ${name} after it was unloaded`));
  return {
    owner,
    report,
    registered,
    registrations,
    started,
    networkUses,
    hung,
    handlers: use.handlers,
    failures,
    errors,
    output: output.written,
    strays: [...strays.errors],
    left,
  };
}

function nameOf({ type, origin }: { type: string; origin: string }): string {
  return `${WORDS[type] ?? type} made at ${origin}`;
}
const WORDS: Record<string, string> = {
  Timeout: "a timer",
  Immediate: "an immediate",
  TCPSERVERWRAP: "a server",
  TCPWRAP: "a connection",
  PIPESERVERWRAP: "a server",
  PIPEWRAP: "a pipe",
  UDPWRAP: "a socket",
  PROCESSWRAP: "a child process",
  FSEVENTWRAP: "a file watcher",
  STATWATCHER: "a file watcher",
  WORKER: "a worker",
  MESSAGEPORT: "a message port",
  SIGNALWRAP: "a signal handler",
};

function listRegistered({ agent, owner }: Instance): Observation["registered"] {
  const kinds = ["tool", "command", "flag", "cli"] as const;
  return kinds.flatMap((kind): Observation["registered"] =>
    ownOf<Observation["registered"][number]>(owner, agent.registry(kind).values()),
  );
}

/** Unloads the extension; answers what of it is still there, or still answers. */
async function unload(instance: Instance): Promise<string[]> {
  const { agent, owner, use } = instance;
  const { leaks } = await agent.unload(owner.name);
  use.isUnloaded = true;
  const left = leaks.map(({ what }) => what);
  left.push(...listRegistrations(instance));
  if (instance.settingsListeners.size > 0) left.push("a listener of the settings");
  left.push(...use.declaredHooks.filter((name) => isDeclared(instance, name)).map((name) => `the hook ${name}`));
  const countCalls = () => use.handlers.map(({ calls }) => calls);
  const before = countCalls();
  await agent.abort("It was unloaded.");
  await agent.run("Are you there?");
  await agent.dispatch("session_start", { reason: "reload" });
  countCalls().forEach((calls, at) => {
    if (calls > before[at]!) left.push(`a handler of ${use.handlers[at]!.hook}`);
  });
  for (const [channel, record] of use.channels) {
    const calls = record.calls;
    instance.emit(channel, undefined);
    if (record.calls > calls) left.push(`a listener of the bus for ${channel}`);
  }
  return left;
}

function isDeclared({ agent }: Instance, name: string): boolean {
  try {
    void agent.declareHook(name, { way: "notify" })();
    return false;
  } catch {
    return true;
  }
}
