import { statSync } from "node:fs";
import type { CliIo, Entry } from "@pi-agent/kernel";
import type { RunsArguments } from "./arguments.ts";
import { runsError } from "./problem.ts";
import { findRun, type RunRow, readSession, readStepsUpTo } from "./queries.ts";
import type { RunsSource } from "./source.ts";

export interface Resumed {
  start: { entries: Entry[]; cwd: string; sessionId: string; prompt?: string };
}

/** Answers where to go on: at the last step of a run. Fails with `run_in_progress`, `run_unreadable`. */
export async function resume(source: RunsSource, { id, words }: RunsArguments, io: CliIo): Promise<Resumed> {
  const run = await findRun(source, id);
  if (run.status === "running") {
    throw runsError(
      "run_in_progress",
      `The run ${run.id} is still going on${run.host === null ? "" : ` on ${run.host}`}.`,
      "Wait for its end; one that is not heard of for a minute counts as interrupted.",
    );
  }
  const entries = pathOf(await readStepsUpTo(source, run), await readSession(source, run));
  if (entries.length === 0) {
    throw runsError("run_unreadable", `The run ${run.id} has no steps to go on from.`, 'Start a new one: pi "…".');
  }
  const prompt = words.join(" ");
  return {
    start: { entries, cwd: findFolder(run, io), sessionId: run.session_id, ...(prompt !== "" && { prompt }) },
  };
}

/**
 * Makes the conversation that ends with the last of these steps, each entry the child of the one before it. The session
 * knows what happened between the runs too; without it an entry whose parent is not there follows the step before it.
 */
function pathOf(steps: readonly Entry[], session: readonly Entry[]): Entry[] {
  const last = steps.at(-1);
  const known = new Map([...session, ...steps].map((entry) => [entry.id, entry]));
  const before = new Map(steps.map((entry, at) => [entry.id, steps[at - 1]]));
  const parentOf = ({ id, parentId }: Entry) =>
    parentId === null ? undefined : (known.get(parentId) ?? before.get(id));
  const path = new Set<Entry>();
  // Stored parents may lead in a circle.
  for (let entry: Entry | undefined = last; entry && !path.has(entry); entry = parentOf(entry)) path.add(entry);
  return [...path].reverse().map((entry, at, all) => ({ ...entry, parentId: all[at - 1]?.id ?? null }));
}

/** Another machine may not have the folder: then it is the one that the person is in. */
function findFolder({ cwd }: RunRow, io: CliIo): string {
  if (cwd === null || statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return cwd ?? io.cwd;
  io.stderr.write(`The run's folder ${cwd} is not on this machine: it goes on in ${io.cwd}.\n`);
  return io.cwd;
}
