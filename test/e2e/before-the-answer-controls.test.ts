/** T8, positive controls: the eyes that see nothing before the answer see everything that happens. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Trace } from "./system-calls.ts";
import { LACK, openTracedBench, type Traced, type TracedBench } from "./traced-bench.ts";

// Made where a trace can be.
let at: TracedBench;

beforeAll(async () => {
  if (!LACK) at = await openTracedBench();
});
afterAll(() => at?.[Symbol.asyncDispose]());

const BAD_DEEDS: Record<string, string> = {
  write: `writeFileSync(process.cwd() + "/bad", "")`,
  folder: `mkdirSync(process.cwd() + "/bad-folder/deep", { recursive: true })`,
  rename: `renameSync("nothing", "bad")`,
  link: `symlinkSync("/etc/passwd", "bad-link")`,
  remove: `unlinkSync("no-such-file")`,
  mode: `chmodSync("run.sh", 0o755)`,
  cut: `truncateSync("run.sh", 100)`,
  execute: `spawnSync("/bin/true")`,
  "fail to execute": `spawnSync("no-such-program")`,
  connect: `new Promise((done) => connect(9, "127.0.0.1").once("error", done))`,
  "send a datagram": `new Promise((done) => { const s = createSocket("udp4"); s.send("x", 9, "127.0.0.1", () => s.close(done)); })`,
  "connect by path": `new Promise((done) => connect("/tmp/no-such-socket").once("error", done))`,
  read: `readFileSync(".env")`,
  "read with a promise": `readFile(".env")`,
  "read in another thread": `new Promise((done) => new Worker('require("fs").readFileSync(".env")', { eval: true }).once("exit", done))`,
  "read through a link": `readFileSync("/proc/self/cwd/.npmrc")`,
};

function describeBadExtension(): string {
  const tries = Object.entries(BAD_DEEDS).map(
    ([name, code]) => `try { openSync("/mark/${name}"); } catch {}\n  try { await ${code}; } catch {}`,
  );
  return `import { chmodSync, mkdirSync, openSync, readFileSync, renameSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { spawnSync } from "node:child_process";
import { connect } from "node:net";
import { createSocket } from "node:dgram";
import { Worker } from "node:worker_threads";
export default async () => {
  ${tries.join("\n  ")}
};
`;
}

const CAUGHT: Record<string, (part: Trace) => boolean> = {
  write: ({ changes }) => changes.some((call) => call.includes("/bad")),
  folder: ({ changes }) => changes.some((call) => call.includes("mkdir")),
  rename: ({ changes }) => changes.some((call) => call.includes("rename")),
  link: ({ changes }) => changes.some((call) => call.includes("symlink")),
  remove: ({ changes }) => changes.some((call) => call.includes("unlink")),
  mode: ({ changes }) => changes.some((call) => call.includes("chmod")),
  cut: ({ changes }) => changes.some((call) => call.includes("run.sh")),
  execute: ({ runs }) => runs.some((call) => call.includes("/bin/true")),
  "fail to execute": ({ runs }) => runs.some((call) => call.includes("no-such-program")),
  connect: ({ connects }) => connects.some(({ address }) => address === "127.0.0.1:9"),
  "send a datagram": ({ connects }) => connects.some(({ address }) => address === "127.0.0.1:9"),
  "connect by path": ({ connects }) => connects.some(({ address }) => address === "AF_UNIX /tmp/no-such-socket"),
  read: ({ opened }) => opened.has(".env"),
  "read with a promise": ({ opened }) => opened.has(".env"),
  "read in another thread": ({ opened }) => opened.has(".env"),
  "read through a link": ({ opened }) => opened.has(".npmrc"),
};
let bad: Promise<Traced> | undefined;

async function traceBadExtension(): Promise<Traced> {
  const own = await at.write(join(at.elsewhere, "bad.ts"), describeBadExtension());
  return at.trace(["--list-models", "-e", own]);
}

test.for(Object.keys(BAD_DEEDS))(
  "T8 (positive control): an extension of the person's own is caught when it does it: %s",
  async (name, { skip }) => {
    if (LACK) skip(LACK);
    bad ??= traceBadExtension();
    const { parts, run } = await bad;
    const part = parts.get(name);
    expect(part && CAUGHT[name]!(part), `${run.stderr}\n${JSON.stringify([...parts.keys()])}`).toBe(true);
  },
);

test("T8 (positive control): the same project, granted, is caught at everything at once", async ({ skip }) => {
  if (LACK) skip(LACK);
  const part = (await at.traceSdk("approved")).parts.get("approved")!;
  expect(at.canaries()).toContain("canary\n");
  expect(part.runs.join("\n")).toContain("/bin/true");
  expect(part.changes.join("\n")).toContain("written-by-canary");
  expect(part.connects.map(({ address }) => address)).toContain("127.0.0.1:9");
  expect(part.opened).toContain(".env");
});
