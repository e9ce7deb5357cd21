import type { JsonObject, Owner, Registered } from "@pi-agent/kernel";
import type { ScriptedCall } from "../wire-server/turn.ts";
import type { Instance } from "./instance.ts";
import type { ConformanceOptions } from "./options.ts";
import { sampleArguments } from "./sample-arguments.ts";

/** Less than a handler's deadline, so that what hangs is found before the kernel gives it up. */
const DEFAULT_PATIENCE_MS = 4_000;
/** A run that is aborted ends by itself: the kernel gives up what does not listen. */
const RUN_LIMIT_MS = 60_000;
const TOOLS_MS = 1_000;
const PAUSE_MS = 10;
/** Enough pieces to tell what a handler costs for each. */
const DELTAS = 60;
const LONG_ANSWER = "One word after the other. ".repeat(DELTAS);

/** Waits for work, but not longer than `ms`; answers whether it was done. A failure of the work is its own. */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const done = work.then(
    () => true,
    () => true,
  );
  return Promise.race([done, late]).finally(() => clearTimeout(timer));
}

/** Lists the calls that try each of the extension's tools once. */
export function listCalls({ agent, owner }: Instance, given: ConformanceOptions): ScriptedCall[] {
  return ownOf(owner, agent.registry("tool").values()).flatMap(({ name, value }) => {
    const args = given.calls?.[name] ?? sampleArguments(value.parameters);
    return args === false ? [] : [{ name, arguments: args as JsonObject }];
  });
}

/**
 * Has the extension live through a session: its start, an answer in many pieces, each tool, each command. Answers
 * where it was waited for in vain.
 */
export async function exercise(
  instance: Instance,
  given: ConformanceOptions,
  { withCommands = true } = {},
): Promise<string | undefined> {
  const { agent, plan } = instance;
  const calls = listCalls(instance, given);
  agent.setActiveTools([...agent.registry("tool").keys()]);
  plan.push({ text: LONG_ANSWER, deltas: DELTAS, calls });
  const { patienceMs = DEFAULT_PATIENCE_MS } = given;
  const steps: Step[] = [
    {
      name: "session_start",
      ms: patienceMs,
      take: () => agent.dispatch("session_start", { reason: "startup" }),
    },
    { name: "a run", ms: RUN_LIMIT_MS, take: () => runBounded(instance) },
    ...(withCommands ? listCommands(instance, given) : []).map((line) => ({
      name: `the command ${line}`,
      ms: patienceMs,
      take: () => agent.input(line).then(() => agent.settled()),
    })),
  ];
  for (const step of steps) {
    const hung = await takeStep(instance, step);
    if (hung !== undefined) return hung;
    // A scripted model never waits: what the extension put off has its turn here.
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return undefined;
}

interface Step {
  name: string;
  /** How long it is waited for. */
  ms: number;
  take: () => Promise<unknown>;
}

async function takeStep({ ui }: Instance, { name, ms, take }: Step): Promise<string | undefined> {
  let question: string | undefined;
  const asked = ui.obstinate.then((obstinate) => {
    question = obstinate;
  });
  const isDone = await within(ms, Promise.race([take(), asked]));
  if (question !== undefined) return `In ${name} it asks "${question}" again and again, and nobody is there to answer.`;
  return isDone ? undefined : `It was waited for in ${name} for ${ms / 1_000} s.`;
}

/** A tool may take its time, but not the suite's: then it is aborted. */
async function runBounded({ agent, use }: Instance): Promise<void> {
  use.isResting = false;
  if (!(await within(TOOLS_MS, agent.run("Try everything.")))) await agent.abort("It takes too long.");
  use.isResting = true;
}

function listCommands({ agent, owner }: Instance, given: ConformanceOptions): string[] {
  return ownOf(owner, agent.registry("command").values()).flatMap(({ name }) => {
    const args = given.commands?.[name] ?? "";
    return args === false ? [] : [`/${name} ${args}`.trim()];
  });
}

export function ownOf<R extends Registered>(subject: Owner, all: Iterable<R>): R[] {
  return [...all].filter(({ owner }) => owner.name === subject.name);
}
