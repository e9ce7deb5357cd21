/**
 * T8: before the answer nothing is executed, nothing connected, nothing written inside the project, and the project
 * files that are opened are those that the plan names: seen from below, over every way in.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LACK, LACK_AT_TERMINAL, NOTHING, openTracedBench, type TracedBench } from "./traced-bench.ts";

// Made where a trace can be.
let at: TracedBench;

beforeAll(async () => {
  if (!LACK) at = await openTracedBench();
});
afterAll(() => at?.[Symbol.asyncDispose]());

let asked: Promise<string[]> | undefined;

/** What the plan of the command names, asked once. */
function plannedFiles(): Promise<string[]> {
  asked ??= at.pi(["trust", "show", "--json"]).done.then(({ stdout }) => JSON.parse(stdout).opened as string[]);
  return asked;
}

function sorted(files: Iterable<string>): string[] {
  return [...files].toSorted();
}

const MODEL = ["--model", "wire-anthropic/scripted"];
const ASKING_THE_MODEL = [
  ["print", ["-p", "Go.", ...MODEL]],
  ["json", ["-p", "--mode", "json", "Go.", ...MODEL]],
  ["print, refused", ["-p", "--no-approve", "Go.", ...MODEL]],
  ["continue", ["-p", "-c", "Go.", ...MODEL]],
] as const;

test.for(ASKING_THE_MODEL)(
  "T8, %s: nothing but the model is talked to, after the scan; the files opened are the plan's",
  async ([, args], { skip }) => {
    if (LACK) skip(LACK);
    const traced = await at.trace(args);
    expect(traced.run.stderr).toMatch(/held back/);
    const address = new URL(at.server.url).host;
    expect(at.deedsOf(traced, address)).toEqual(NOTHING);
    const talks = traced.connects.map((talk) => talk.at);
    expect(talks.length).toBeGreaterThan(0);
    expect(Math.min(...talks)).toBeGreaterThan(traced.lastOpenAt);
    expect(sorted(traced.opened)).toEqual(await plannedFiles());
  },
);

const WITHOUT_MODEL = [
  ["list-models", ["--list-models"]],
  ["doctor", ["doctor"]],
  ["doctor as data", ["doctor", "--json"]],
  ["prompt", ["prompt"]],
  ["trust", ["trust"]],
  ["trust show", ["trust", "show"]],
  ["trust show as data", ["trust", "show", "--json"]],
  ["a model that is not there", ["-p", "Go.", "--model", "no/such"]],
  ["a wrong command", ["trsut"]],
] as const;

test.for(WITHOUT_MODEL)(
  "T8, %s: the files opened are the plan's, and nothing else happens",
  async ([, args], { skip }) => {
    if (LACK) skip(LACK);
    const traced = await at.trace(args);
    expect(at.deedsOf(traced)).toEqual(NOTHING);
    expect(sorted(traced.opened)).toEqual(await plannedFiles());
  },
);

const UNLOADED = [
  ["help", ["--help"]],
  ["help, as a command", ["help"]],
  ["help of a command", ["trust", "--help"]],
  ["version", ["--version"]],
  ["version among others", ["-p", "x", "--version"]],
  ["an unknown flag", ["-p", "Go.", "--unknown"]],
  ["a flag without its value", ["-p", "Go.", "--model"]],
] as const;

test.for(UNLOADED)("T8, %s: no file of the project is opened, and nothing happens", async ([, args], { skip }) => {
  if (LACK) skip(LACK);
  const traced = await at.trace(args);
  expect({ ...at.deedsOf(traced), opened: sorted(traced.opened) }).toEqual({ ...NOTHING, opened: [] });
});

test("T8, trust list: no file of the project is opened that the plan does not name", async ({ skip }) => {
  if (LACK) skip(LACK);
  const traced = await at.trace(["trust", "list"]);
  const planned = await plannedFiles();
  const unplanned = sorted(traced.opened).filter((file) => !planned.includes(file));
  expect({ ...at.deedsOf(traced), unplanned }).toEqual({ ...NOTHING, unplanned: [] });
});

test("T8, resume: a session from elsewhere moves into the project, and nothing of it happens", async ({ skip }) => {
  if (LACK) skip(LACK);
  const file = join(at.elsewhere, "moved.jsonl");
  const header = {
    type: "session",
    version: 3,
    id: "0197a000-0000-7000-8000-000000000001",
    timestamp: new Date(0),
    cwd: at.path,
  };
  writeFileSync(file, `${JSON.stringify(header)}\n`);
  const traced = await at.trace(["-p", "Go.", "--session", file, ...MODEL], { cwd: at.elsewhere });
  expect(at.deedsOf(traced, new URL(at.server.url).host)).toEqual(NOTHING);
  expect(sorted(traced.opened)).toEqual(await plannedFiles());
});

const QUESTION = /Number: /;

test("T8, interactive: while the question stands on the screen, nothing has happened", async ({ skip }) => {
  if (LACK_AT_TERMINAL) skip(LACK_AT_TERMINAL);
  const traced = await at.trace(MODEL, {
    person: async (run) => {
      await run.waitForStdout(QUESTION);
      run.kill("SIGHUP");
      run.reap();
    },
  });
  expect(traced.run.stdout).toContain(at.path);
  expect(at.deedsOf(traced)).toEqual(NOTHING);
  expect(sorted(traced.opened)).toEqual(await plannedFiles());
});

test("T8, interactive: answered no, reloaded and begun anew, nothing happens", async ({ skip }) => {
  if (LACK_AT_TERMINAL) skip(LACK_AT_TERMINAL);
  const traced = await at.trace(MODEL, {
    person: async (run) => {
      const type = (keys: string) => void run.stdin?.write(keys);
      await run.waitForStdout(QUESTION);
      type("\r");
      await run.waitForStdout(/held back[\s\S]*> /);
      type("/reload\r");
      await run.waitForStdout(/Reloaded|Number: [\s\S]*Number: /);
      if (!run.stdout.includes("Reloaded")) type("\r");
      await run.waitForStdout(/Reloaded[\s\S]*> /);
      type("/new\r");
      await run.waitForStdout(/A new session[\s\S]*> /);
      type("/quit\r");
    },
  });
  expect(at.deedsOf(traced)).toEqual(NOTHING);
  expect(sorted(traced.opened)).toEqual(await plannedFiles());
});

const SDK_WAYS =
  "nothing untrusted never no-context not-now not-an-answer worker reload fork switch resume unanswered".split(" ");
let embedded: ReturnType<TracedBench["traceSdk"]> | undefined;

test.for(SDK_WAYS)(
  "T8, attack 13, embedded (%s): the files opened are the plan's, and nothing else happens",
  async (way, { skip }) => {
    if (LACK) skip(LACK);
    embedded ??= at.traceSdk(...SDK_WAYS);
    const { parts, planned: own } = await embedded;
    const part = parts.get(way)!;
    expect(at.deedsOf(part)).toEqual(NOTHING);
    expect(sorted(part.opened)).toEqual(own[way === "worker" ? "nothing" : way]);
    expect(part.opened.size).toBeGreaterThan(10);
  },
);

test("T8: a pipe, a link, and a file too large to be a theme are never opened", async ({ skip }) => {
  if (LACK) skip(LACK);
  const files = (await plannedFiles()).join("\n");
  expect(files).toContain(".pi/extensions/canary.ts");
  expect(files).not.toMatch(/pipe|link|dangling|large|\.env|\.npmrc|\.git\/|trust\.json/);
});
