/** Attack 37, T3: the bytes that were hashed are the bytes evaluated, whatever becomes of the files meanwhile. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { headlessUi } from "@pi-agent/kernel";
import { load } from "@pi-agent/loader";
import { childProcessesOf } from "@pi-agent/testing/house";
import { expect, onTestFinished, test } from "vitest";
import { digestBytes } from "../../loader/src/plan.ts";
import { openWorkbench, type Workbench } from "./workbench.ts";

const isSoak = process.env.SOAK === "1";
const SWAPS = isSoak ? 10_000 : 400;
const COMMANDS = isSoak ? 100 : 4;
const PATIENCE_MS = isSoak ? 600_000 : 60_000;

/** A source that says which version of itself was evaluated. */
function marking(home: string, id: string, imports = ""): string {
  return `import { appendFileSync } from "node:fs";
${imports}
appendFileSync(${JSON.stringify(join(home, "ran"))}, "good:${id}\\n");
export default () => {};
`;
}

function filesOf(home: string): Record<string, string> {
  const mark = (id: string) =>
    `require("fs").appendFileSync(${JSON.stringify(join(home, "ran"))}, "good:${id}\\n");\nmodule.exports = {};\n`;
  const data = `import data from "../../src/data.json" with { type: "json" };`;
  return {
    ".pi/extensions/replaced.ts": marking(home, "replaced"),
    ".pi/extensions/renamed.ts": marking(home, "renamed"),
    ".pi/extensions/in-place.ts": marking(home, "in-place"),
    ".pi/extensions/linked.ts": marking(home, "linked"),
    ".pi/extensions/importing.ts": marking(home, "importing", 'import "../../src/helper.ts";'),
    ".pi/extensions/requiring.ts": marking(home, "requiring", 'import "../../src/deep.cjs";'),
    ".pi/extensions/reading.ts": `${marking(home, "reading", data)}appendFileSync(${JSON.stringify(join(home, "ran"))}, data.mark);\n`,
    ".pi/extensions/folder/index.ts": marking(home, "folder", 'import "./part.ts";'),
    ".pi/extensions/folder/part.ts": marking(home, "part"),
    "src/helper.ts": marking(home, "helper"),
    "src/deep.cjs": mark("deep"),
    "src/data.json": JSON.stringify({ mark: "good:data\n" }),
  };
}

async function openProject(): Promise<Workbench> {
  const bench = await openWorkbench([]);
  onTestFinished(() => bench[Symbol.asyncDispose]());
  for (const [file, content] of Object.entries(filesOf(bench.home))) await bench.write(file, content);
  return bench;
}

interface Swapping {
  /** How many swaps there were. */
  count(): number;
}

/** Starts the other process; it ends with the test. */
async function startSwapping({ path, home }: Workbench, pauseUs: number): Promise<Swapping> {
  const outside = join(home, "outside");
  mkdirSync(outside);
  const script = join(import.meta.dirname, "swapping.ts");
  const child: ChildProcess = spawn(process.execPath, [script, path, outside, String(pauseUs)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  onTestFinished(async () => {
    const closed = new Promise((resolve) => child.once("close", resolve));
    if (child.exitCode === null) child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await closed;
    expect(childProcessesOf(child.pid ?? 0)).toEqual([]);
  });
  await expect.poll(() => text.startsWith("ready"), { timeout: 15_000 }).toBe(true);
  return { count: () => Number(text.trim().split("\n").at(-1)) || 0 };
}

/** What was evaluated since the last look: the good and the evil by their ids. */
function takeMarks({ home }: Workbench): { good: string[]; evil: string[] } {
  const path = join(home, "ran");
  const lines = existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
  rmSync(path, { force: true });
  const of = (kind: string) => lines.filter((line) => line.startsWith(kind)).map((line) => line.slice(kind.length));
  return { good: of("good:"), evil: of("evil:") };
}

const ALL = [
  "data",
  "deep",
  "folder",
  "helper",
  "importing",
  "in-place",
  "linked",
  "part",
  "reading",
  "renamed",
  "replaced",
  "requiring",
];

test(
  `attack 37, T3: of ${SWAPS} swaps between look and load none is evaluated`,
  async () => {
    const bench = await openProject();
    expect((await bench.pi(["trust", "yes"]).done).code).toBe(0);
    const start = async () => {
      const env = { PATH: process.env.PATH, HOME: bench.home };
      const mode = { name: "print", hasUI: false, ui: { ...headlessUi, notify: () => {} } };
      await (await load({ cwd: bench.path, env, mode })).dispose();
    };
    await start();
    // What was approved loads, all of it: otherwise nothing would be shown.
    expect([...new Set(takeMarks(bench).good)].toSorted()).toEqual(ALL);
    const swapping = await startSwapping(bench, 2_000);
    const seen = new Set<string>();
    let loads = 0;
    while (swapping.count() < SWAPS) {
      await start();
      loads++;
      // A load may be over before the event loop turns once: the count has to arrive.
      await delay(1);
      const { good, evil } = takeMarks(bench);
      expect(evil).toEqual([]);
      for (const id of good) seen.add(id);
    }
    expect([...seen].toSorted()).toEqual(ALL);
    expect(loads).toBeGreaterThan(5);
  },
  PATIENCE_MS,
);

test(
  `attack 37, T3: the built command, started ${COMMANDS} times while files are swapped, evaluates none of them`,
  async () => {
    const bench = await openProject();
    expect((await bench.pi(["trust", "yes"]).done).code).toBe(0);
    await startSwapping(bench, 2_000);
    const seen = new Set<string>();
    for (let n = 0; n < COMMANDS; n++) {
      expect((await bench.pi(["--list-models"]).done).code).toBe(0);
      const { good, evil } = takeMarks(bench);
      expect(evil).toEqual([]);
      for (const id of good) seen.add(id);
    }
    expect(seen.size).toBeGreaterThan(0);
  },
  PATIENCE_MS,
);

test(
  "attack 37 (positive control): a loader that looks first and reads again is hit",
  async () => {
    const bench = await openProject();
    const path = join(bench.path, ".pi", "extensions", "replaced.ts");
    const approved = digestBytes(readFileSync(path));
    await startSwapping(bench, 2_000);
    let hits = 0;
    for (let tries = 0; tries < 5_000 && hits === 0; tries++) {
      if (digestBytes(readFileSync(path)) !== approved) continue;
      // As long as an import of a compiler takes.
      await delay(2);
      if (readFileSync(path, "utf8").includes("evil:")) hits++;
    }
    expect(hits).toBe(1);
  },
  PATIENCE_MS,
);
