/**
 * Each tool is called three times: to its end, aborted as it begins, aborted in its midst.
 *
 *   call ──► abort ──► over within the grace period? ──► is anything more alive than after a call that was not aborted?
 */
import type { ScriptedCall } from "../wire-server/turn.ts";
import { exercise, listCalls, within } from "./exercise.ts";
import { type Instance, openInstance } from "./instance.ts";
import type { Subject } from "./options.ts";
import { type LiveResource, ResourceWatch } from "./resource-watch.ts";
import { watchOutput } from "./standard-output.ts";
import { catchStrayErrors } from "./stray-errors.ts";

/** Long enough that a tool is in the midst of what it waits for. */
const MIDST_MS = 25;
const SETTLE_MS = 300;

/** Tells which tools do not end when they are aborted, or act afterwards. */
export async function judgeAbort(subject: Subject): Promise<string[]> {
  using _strays = catchStrayErrors();
  using watch = new ResourceWatch();
  using _output = watchOutput(() => watch.isInside);
  await using instance = await watch.run(() => openInstance(subject));
  if (instance.report.error) return [];
  const calls = listCalls(instance, subject.given);
  if (calls.length === 0) return [];
  // What a tool sets up at its first use it may keep.
  await watch.run(() => exercise(instance, subject.given, { withCommands: false }));
  await watch.settle(SETTLE_MS);
  const problems: string[] = [];
  for (const call of calls) {
    for (const afterMs of [0, MIDST_MS]) {
      const known = watch.live();
      problems.push(...(await watch.run(() => abortCall(instance, call, afterMs))));
      await watch.settle(SETTLE_MS, known);
      const more = listGrown(known, watch.live());
      problems.push(
        ...more.map((origin) => `The tool ${call.name} was aborted, and what it made at ${origin} goes on.`),
      );
    }
  }
  const late = instance.use.lateUpdates.map((name) => `The tool ${name} told of progress after it was over.`);
  return [...new Set([...problems, ...late])];
}

async function abortCall(instance: Instance, call: ScriptedCall, afterMs: number): Promise<string[]> {
  const { agent, plan, use, failures } = instance;
  const abandonedBefore = failures.filter(({ code }) => code === "abandoned").length;
  plan.splice(0, plan.length, { calls: [call] });
  use.isResting = false;
  const begun = new Promise<void>((resolve) => {
    const undo = agent.on("tool_execution_start", () => {
      void undo();
      resolve();
    });
  });
  const run = agent.run("Try it.");
  await Promise.race([begun, run]);
  if (afterMs > 0) await within(afterMs, run);
  await agent.abort("The suite aborts.");
  await run;
  use.isResting = true;
  const isAbandoned = failures.filter(({ code }) => code === "abandoned").length > abandonedBefore;
  return isAbandoned ? [`The tool ${call.name} did not end within the grace period of an abort.`] : [];
}

/** The places that more is alive from than before. */
function listGrown(before: readonly LiveResource[], after: readonly LiveResource[]): string[] {
  const count = (all: readonly LiveResource[], place: string) => all.filter(({ origin }) => origin === place).length;
  return [...new Set(after.map(({ origin }) => origin))].filter((place) => count(after, place) > count(before, place));
}
