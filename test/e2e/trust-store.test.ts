import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chmod, utimes } from "node:fs/promises";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { type TempProject, tempProject } from "@pi-agent/testing";
import { expect, onTestFinished, test } from "vitest";
import { parseTrustFile } from "../../loader/src/trust-file.ts";
import { listDecisions, readTrust } from "../../loader/src/trust-store.ts";
import { remember } from "../../loader/src/trust-writer.ts";

const PROCESSES = process.env.SOAK ? 20 : 6;
const DECISIONS = process.env.SOAK ? 6 : 5;
const TIMEOUT_MS = process.env.SOAK ? 600_000 : 60_000;
const DECIDER = join(import.meta.dirname, "trust-decider.ts");

interface Decider {
  child: ChildProcessByStdio<Writable, Readable, Readable>;
  lines: Interface;
  /** What it prints on standard error. */
  faults: string[];
  ended: Promise<unknown>;
}

async function makeHome(): Promise<TempProject> {
  const at = await tempProject();
  onTestFinished(() => at.cleanup());
  return at;
}

/** Starts a process that waits to decide. */
async function startDecider(way: "ours" | "pi", agentDir: string, name: string, count = DECISIONS): Promise<Decider> {
  const args = ["--conditions", "@pi-agent/source", DECIDER, way, agentDir, name, String(count)];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const faults: string[] = [];
  child.stderr.on("data", (chunk: Buffer) => faults.push(chunk.toString()));
  const lines = createInterface(child.stdout);
  const ended = once(child, "close");
  await once(lines, "line");
  return { child, lines, faults, ended };
}

/** Lets all of them decide at once, and waits for them; meanwhile `look` is called again and again. */
async function decideAtOnce(deciders: readonly Decider[], look: () => void): Promise<void> {
  for (const { child } of deciders) child.stdin.write("!");
  while (deciders.some(({ child }) => child.exitCode === null && child.signalCode === null)) {
    look();
    await new Promise(setImmediate);
  }
  await Promise.all(deciders.map(({ ended }) => ended));
  expect(deciders.flatMap(({ faults }) => faults)).toEqual([]);
}

function keysOf(name: string, count = DECISIONS): string[] {
  return Array.from({ length: count }, (_, index) => `/projects/${name}/${index}`);
}

/** Fails where a file is not valid against the schema at this moment. */
function assertValid(agentDir: string): number {
  const folder = join(agentDir, "trust.d");
  const records = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
  for (const name of records) parseTrustFile(readFileSync(join(folder, name)), "record");
  const plain = join(agentDir, "trust.json");
  if (existsSync(plain)) parseTrustFile(readFileSync(plain), "plain");
  return records.length;
}

test(`T6, F041: ${PROCESSES} processes decide at once: no decision is lost, and every file is valid at every moment`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const { agentDir } = await makeHome();
  const names = Array.from({ length: PROCESSES }, (_, index) => `p${index}`);
  const deciders = await Promise.all(names.map((name) => startDecider("ours", agentDir, name)));
  let looks = 0;
  await decideAtOnce(deciders, () => {
    assertValid(agentDir);
    looks++;
  });
  expect(looks).toBeGreaterThan(0);
  const keys = names.flatMap((name) => keysOf(name)).sort();
  const { decisions, plain, notes } = listDecisions(agentDir);
  expect(decisions.map(({ project }) => project)).toEqual(keys);
  const isFor = (kind: number) => (key: string) => Number(key.split("/").at(-1)) % 3 === kind;
  expect(Object.keys(plain)).toEqual(keys.filter((key) => !isFor(2)(key)));
  expect(Object.keys(plain).filter((key) => plain[key] === false)).toEqual(keys.filter(isFor(0)));
  expect(notes).toEqual([]);
  expect(readdirSync(agentDir).filter((name) => /lock|tmp|damaged/.test(name))).toEqual([]);
  expect(assertValid(agentDir)).toBe(keys.length);
});

test("T6, F041: Pi, which writes its file in place, and ours decide at once: neither loses a decision", {
  timeout: TIMEOUT_MS,
}, async () => {
  const { agentDir } = await makeHome();
  await remember(agentDir, change("/denied"));
  const deciders = await Promise.all([
    startDecider("pi", agentDir, "pi", 2 * DECISIONS),
    startDecider("pi", agentDir, "pi2", 2 * DECISIONS),
    startDecider("ours", agentDir, "ours"),
    startDecider("ours", agentDir, "ours2"),
  ]);
  // A half-written file is never taken for one that says nothing.
  await decideAtOnce(deciders, () => expect(readTrust(agentDir, "/denied")).toMatchObject({ notes: [] }));
  const { plain, decisions } = listDecisions(agentDir);
  expect(decisions).toHaveLength(2 * DECISIONS + 1);
  const expected = ["pi", "pi2"].flatMap((name) => keysOf(name, 2 * DECISIONS));
  expect(expected.filter((key) => plain[key] !== true)).toEqual([]);
  const denied = ["ours", "ours2"].flatMap((name) => keysOf(name)).filter((_, index) => (index % DECISIONS) % 3 === 0);
  expect([...denied, "/denied"].filter((key) => plain[key] !== false)).toEqual([]);
  expect(readdirSync(agentDir).filter((name) => name.includes("damaged"))).toEqual([]);
});

test("T6: a process that is killed while it decides damages nothing, and its lock goes stale", async () => {
  const { agentDir } = await makeHome();
  for (let round = 0; round < (process.env.SOAK ? 25 : 3); round++) {
    const { child, lines, ended } = await startDecider("ours", agentDir, `r${round}`, 1_000);
    child.stdin.write("!");
    const said: string[] = [];
    lines.on("line", (line) => void said.push(line.slice("said ".length)));
    while (said.length < 1 + round) await once(lines, "line");
    child.kill("SIGKILL");
    await ended;
    assertValid(agentDir);
    const known = new Set(listDecisions(agentDir).decisions.map(({ project }) => project));
    expect(said.filter((key) => !known.has(key))).toEqual([]);
    // What it left is as old as it would be after 10 s.
    for (const name of readdirSync(agentDir).filter((each) => each.endsWith(".lock")))
      await utimes(join(agentDir, name), 0, 0);
    await remember(agentDir, change(`/after/${round}`));
    expect(readTrust(agentDir, `/after/${round}`).denial).toBeDefined();
  }
});

test("F041: a store in a folder that this user may not write to says that nothing was saved", async () => {
  const { agentDir, home } = await makeHome();
  await remember(agentDir, change("/before"));
  const before = readFileSync(join(agentDir, "trust.json"), "utf8");
  await chmod(agentDir, 0o500);
  // Root may write anywhere: once everything is imported, it goes on as somebody who may read there.
  const writer = join(import.meta.dirname, "../../loader/src/trust-writer.ts");
  const script = `import { remember } from ${JSON.stringify(writer)};
    await remember(${JSON.stringify(join(home, "other"))}, ${JSON.stringify(change("/x"))});
    if (process.getuid() === 0) process.seteuid(65534);
    const fault = await remember(${JSON.stringify(agentDir)}, ${JSON.stringify(change("/x"))}).catch((cause) => cause);
    console.log(JSON.stringify({ code: fault.code, message: fault.message, hint: fault.hint }));`;
  const args = ["--conditions", "@pi-agent/source", "--input-type=module", "-e", script];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [text] = (await once(child.stdout, "data")) as [Buffer];
  await once(child, "close");
  await chmod(agentDir, 0o700);
  expect(JSON.parse(text.toString())).toMatchObject({
    code: "trust_not_saved",
    message: expect.stringMatching(
      /^What you said about \/x was not saved, and counts for this run only: E(ACCES|PERM)/,
    ),
    hint: expect.any(String),
  });
  expect(readFileSync(join(agentDir, "trust.json"), "utf8")).toBe(before);
  expect(readdirSync(agentDir).sort()).toEqual(["trust.d", "trust.json"]);
});

function change(key: string) {
  return { key, decision: "denied", bound: "folder", below: false, decidedBy: "prompt", resources: {} } as const;
}
