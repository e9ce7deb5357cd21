/**
 * What a reload, a session change and a second agent ask of an extension.
 *
 *   (load ──► run ──► unload) × 10 ──► two at once ──► replaced by itself ──► everything taken back twice
 */
import { within } from "./exercise.ts";
import { type Instance, listRegistrations, load, openInstance } from "./instance.ts";
import type { Observation } from "./observation.ts";
import type { Subject } from "./options.ts";
import { listChanges, readProcessState } from "./process-state.ts";
import { ResourceWatch } from "./resource-watch.ts";
import { watchOutput } from "./standard-output.ts";
import { catchStrayErrors } from "./stray-errors.ts";
import { createUse } from "./watched-api.ts";

const LOADS = 11;
const PATIENCE_MS = 1_000;

/** Tells what is different when an extension is loaded again, or twice at once, from the first time. */
export async function judgeRestart(subject: Subject, first: Observation): Promise<string[]> {
  using _strays = catchStrayErrors();
  using watch = new ResourceWatch();
  using _output = watchOutput(() => watch.isInside);
  const before = readProcessState();
  const problems: string[] = [];
  for (let count = 2; count <= LOADS && problems.length === 0; count++) {
    problems.push(...(await watch.run(() => loadAgain(subject, first, count))));
    for (const { undo } of listChanges(before)) undo();
  }
  problems.push(...(await watch.run(() => loadBeside(subject, first))));
  problems.push(...(await watch.run(() => replaceByItself(subject, first))));
  problems.push(...(await watch.run(() => takeBackTwice(subject))));
  for (const { undo } of listChanges(before)) undo();
  return [...new Set(problems)];
}

async function loadAgain(subject: Subject, first: Observation, count: number): Promise<string[]> {
  await using instance = await openInstance(subject);
  const problems = await compare(instance, first, `Loaded again (load ${count})`);
  await unload(instance);
  return problems;
}

async function loadBeside(subject: Subject, first: Observation): Promise<string[]> {
  await using one = await openInstance(subject);
  await using other = await openInstance(subject);
  const beside = await compare(other, first, "Beside another one of itself");
  if (beside.length > 0) return beside;
  await unload(one);
  return await compare(other, first, "After another one of itself was unloaded");
}

/** The first life is the measure: what went wrong in it is for the other claims. */
async function compare(instance: Instance, first: Observation, when: string): Promise<string[]> {
  const { report, failures, agent } = instance;
  if (report.error) return [`${when}, it fails: ${report.error.message}`];
  if (first.hung === undefined) {
    await within(PATIENCE_MS, agent.dispatch("session_start", { reason: "startup" }));
    await within(PATIENCE_MS, agent.run("Hello."));
  }
  const known = new Set(first.failures.map(({ message }) => message));
  const failed = failures.filter(({ message }) => !known.has(message));
  const now = listRegistrations(instance);
  const missing = first.registrations.filter((each) => !now.includes(each));
  const more = now.filter((each) => !first.registrations.includes(each));
  return [
    ...failed.map(({ event, message }) => `${when}, ${event} fails: ${message}`),
    ...missing.map((each) => `${when}, it does not register the ${each}.`),
    ...more.map((each) => `${when}, it also registers the ${each}.`),
    ...(instance.use.handlers.length > first.handlers.length ? [`${when}, it listens to more hooks.`] : []),
  ];
}

/** As a reload does it: the old copy goes on until the new one is there. */
async function replaceByItself(subject: Subject, first: Observation): Promise<string[]> {
  await using instance = await openInstance(subject);
  if (instance.report.error) return [];
  const use = createUse();
  const report = await load(instance.agent, subject, { owner: instance.owner, use, replace: true });
  instance.use.isUnloaded = true;
  return await compare({ ...instance, use, report }, first, "Replaced by itself");
}

async function takeBackTwice(subject: Subject): Promise<string[]> {
  await using instance = await openInstance(subject);
  const { agent, owner, use } = instance;
  const { leaks } = await agent.unload(owner.name);
  // What fails the first time is a leak, and told by another claim.
  if (leaks.length > 0) return [];
  const again = await agent.unload(owner.name);
  const problems = again.leaks.map(({ what }) => `Unloading it twice fails: ${what}`);
  for (const undo of use.disposers) {
    try {
      await undo();
    } catch (thrown) {
      problems.push(`What it gave pi.onDispose fails when it is called twice: ${String(thrown)}`);
    }
  }
  return problems;
}

async function unload({ agent, owner, use }: Instance): Promise<void> {
  await agent.unload(owner.name);
  use.isUnloaded = true;
}
