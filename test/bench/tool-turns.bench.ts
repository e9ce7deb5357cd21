/**
 * The whole command on 500 turns of tool calls, next to Pi and to the bare loop: each side's own time, from the end of
 * one answer to the arrival of the next request as the server sees it, so without the server's. How much more a turn
 * costs with each turn before it is told in CPU time: on a busy machine the noise of the clock is larger than that.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TempProject, tempProject } from "@pi-agent/testing";
import { PI_BIN } from "@pi-agent/testing/house";
import { modelsJson, startWireServer } from "@pi-agent/testing/wire";
import { type Command, interleave, median, runNode } from "./processes.ts";
import { type RequestGaps, watchRequestGaps } from "./request-gaps.ts";
import { fetchRival } from "./rivals.ts";
import type { Ratio } from "./run.ts";

const TURNS = 500;
const FILES = 10;
const PROBE = join(import.meta.dirname, "drivers", "cpu-probe.js");
const LAST_WORDS = "All files are read.";
const RUNS = 5;

/** Milliseconds of every turn. */
interface TurnTimes {
  own: number[];
  cpu: number[];
}

export async function run(): Promise<Ratio[]> {
  const rival = await fetchRival("@earendil-works/pi-coding-agent");
  const gaps = watchRequestGaps();
  try {
    const prompt = (bin: string) => [bin, "-p", "--model", "wire-chat/scripted", "hello"];
    const pi = rival && join(rival, "@earendil-works", "pi-coding-agent", "dist", "bundle", "cli.js");
    const { ours, bare, theirs } = await interleave(
      {
        ours: () => playTurns(gaps, () => prompt(PI_BIN)),
        bare: () => playTurns(gaps, (url) => [join(import.meta.dirname, "bare-loop.js"), `${url}/v1`]),
        theirs: pi === undefined ? undefined : () => playTurns(gaps, () => prompt(pi)),
      },
      { runs: RUNS, warmUps: 1 },
    );
    const slope = measureSlope(ours) / measureSlope(bare);
    const ratios = [{ what: "cpu-ms-more-per-turn-of-history-ours/bare-loop", ratio: slope, limit: 2 }];
    if (theirs.length === 0) return ratios;
    const ratio = median(ours.map((each, round) => sum(each.own) / sum(theirs[round]!.own)));
    return [{ what: `ms-per-turn-of-${TURNS}-ours/pi`, ratio, limit: 0.5 }, ...ratios];
  } finally {
    gaps.stop();
  }
}

/** Runs one side in a fresh home and project. */
async function playTurns(gaps: RequestGaps, toArgs: (url: string) => string[]): Promise<TurnTimes> {
  const names = Array.from({ length: FILES }, (_, index) => `file-${index}.txt`);
  let turn = 0;
  const server = await startWireServer({
    script: () => {
      const path = names[turn % FILES]!;
      return turn++ < TURNS ? { calls: [{ name: "read", arguments: { path } }] } : { text: LAST_WORDS };
    },
  });
  await using project = await tempProject({
    files: Object.fromEntries(names.map((name) => [name, "alpha\nbeta\ngamma\n"])),
    agentFiles: { "models.json": JSON.stringify(modelsJson(server.url)) },
  });
  try {
    gaps.take();
    const { stdout } = await runNode(describeCommand(project, toArgs(server.url)));
    const own = gaps.take();
    const [refusal] = server.refusals();
    if (refusal) throw new Error(`The server refused a request: ${refusal.message}`);
    if (!stdout.includes(LAST_WORDS) || own.length !== TURNS) throw new Error(`Not all turns were played: ${stdout}`);
    return { own, cpu: readCpu(project) };
  } finally {
    await server.close();
  }
}

function describeCommand(project: TempProject, args: string[]): Command {
  const { path, home, agentDir } = project;
  const theirs = { PI_CODING_AGENT_DIR: agentDir, PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" };
  const env = { PATH: process.env.PATH, HOME: home, PI_OFFLINE: "1", PI_BENCH_CPU_FILE: cpuFile(project), ...theirs };
  return { args: ["--import", PROBE, ...args], cwd: path, env };
}

function cpuFile({ home }: TempProject): string {
  return join(home, "cpu.json");
}

function readCpu(project: TempProject): number[] {
  const marks = JSON.parse(readFileSync(cpuFile(project), "utf8")) as number[];
  if (marks.length !== TURNS + 1) throw new Error(`The probe saw ${marks.length} requests.`);
  return marks.slice(1).map((mark, turn) => mark - marks[turn]!);
}

/** The median slope between turns that lie half of the run apart, of each turn's median over the runs. */
function measureSlope(runs: readonly TurnTimes[]): number {
  const half = TURNS / 2;
  // The first tenth is warm-up.
  const from = TURNS / 10;
  const costs = Array.from({ length: TURNS }, (_, turn) => median(runs.map(({ cpu }) => cpu[turn]!)));
  const slopes = costs.slice(from, -half).map((ms, index) => (costs[from + index + half]! - ms) / half);
  return median(slopes);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
