import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { PiRun } from "@pi-agent/testing/house";
import { expect } from "vitest";
import { plantCanaries } from "./canary-project.ts";
import { lackForTrace, readTrace, TRACED_ENVIRONMENT, type Trace, traceTo } from "./system-calls.ts";
import { openWorkbench, type Workbench } from "./workbench.ts";

/** A run that was traced; its own fields are those of the first part. */
export interface Traced extends Trace {
  run: PiRun;
  parts: Map<string, Trace>;
}

interface TraceOptions {
  cwd?: string;
  /** What runs in place of the built command. */
  bin?: string;
  env?: Record<string, string>;
  /** What the person does at a terminal; without it there is none. */
  person?: (run: PiRun) => Promise<void>;
}

/** A workbench with a project full of canaries, and the command in it under the eyes of the system. */
export interface TracedBench extends Workbench {
  /** A folder outside of the project. */
  elsewhere: string;
  /** Runs the command to its end. */
  trace(args: readonly string[], options?: TraceOptions): Promise<Traced>;
  /** Loads as embedding code does, one way after the other; answers what happened, and what each plan says was opened. */
  traceSdk(...ways: string[]): Promise<{ parts: Map<string, Trace>; planned: Record<string, string[]> }>;
  /** What canaries wrote. */
  canaries(): string;
  /** Everything that T8 forbids, so that one comparison holds all of it; one address is allowed. */
  deedsOf(trace: Trace, allowed?: string): typeof NOTHING;
}

/** No deeds. */
export const NOTHING = { runs: [] as string[], changes: [] as string[], connects: [] as string[], canaries: "" };

/** Why nothing can be traced on this machine, and why nothing at a terminal. */
export const LACK: string | undefined = lackForTrace();
export const LACK_AT_TERMINAL: string | undefined =
  LACK ?? (spawnSync("script", ["--version"]).error ? "needs script" : undefined);

const DRIVER = join(import.meta.dirname, "before-the-answer-sdk.ts");

/** Opens one; whoever opens it disposes of it. */
export async function openTracedBench(): Promise<TracedBench> {
  const bench = await openWorkbench(() => ({ text: "Done." }));
  const elsewhere = join(bench.home, "elsewhere");
  mkdirSync(elsewhere);
  plantCanaries(bench);
  let traces = 0;
  const trace: TracedBench["trace"] = async (args, { cwd, bin, env, person } = {}) => {
    const log = join(bench.home, `trace-${traces++}`);
    const run = bench.pi(args, {
      cwd: cwd ?? bench.path,
      bin,
      // It keeps compiled code where it does for a person.
      env: { ...TRACED_ENVIRONMENT, API_KEY: "canary-key", NODE_COMPILE_CACHE: "", ...env },
      via: person ? atTerminal(log) : traceTo(log),
      holdStdin: person !== undefined,
      // Before the test's own end, so that what is on the screen is told.
      timeoutMs: 18_000,
    });
    await person?.(run);
    await run.done;
    const parts = await readTrace(log, bench.path, cwd);
    return { ...parts.get("start")!, parts, run };
  };
  const canaries = () => {
    const path = join(bench.home, "ran");
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  };
  return {
    ...bench,
    elsewhere,
    trace,
    canaries,
    async traceSdk(...ways) {
      const env = { NODE_OPTIONS: "--conditions=@pi-agent/source" };
      const { run, parts } = await trace([bench.path, elsewhere, ...ways], { bin: DRIVER, env, cwd: elsewhere });
      expect((await run.done).code, run.stderr).toBe(0);
      return { parts, planned: JSON.parse(readFileSync(join(elsewhere, "opened"), "utf8")) };
    },
    deedsOf({ runs, changes, connects }, allowed) {
      const foreign = connects.map(({ address }) => address).filter((address) => address !== allowed);
      return { runs, changes, connects: foreign, canaries: canaries() };
    },
  };
}

/** `script` gives it a terminal; the trace begins inside of that. */
function atTerminal(log: string): [string, ...string[]] {
  const command = traceTo(log).join(" ");
  return ["sh", "-c", `exec script -qec "${command} $(printf "'%s' " "$@")" /dev/null`, "sh"];
}
