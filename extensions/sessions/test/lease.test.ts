import { execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname, uptime } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type HolderRecord, thisHolder } from "../src/holder.ts";
import { findHolder, Lease, leasePath, STALE_MS, takeLease } from "../src/lease.ts";
import { tempFolder } from "./support.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = tempFolder();
  path = leasePath(folder, "s-1");
});

/** Takes a lease that must be free; the test's end gives it back. */
function take(at = path): Lease {
  const lease = takeLease(at);
  if (!(lease instanceof Lease)) return expect.fail(`It is held by process ${lease.holder.pid}.`);
  onTestFinished(() => lease.release());
  return lease;
}

/** Leaves a lease as its holder would have, last beaten some time ago. */
function leave(record: Partial<HolderRecord>, agoMs = 0): void {
  writeFileSync(path, JSON.stringify({ ...thisHolder(), ...record }));
  const at = (Date.now() - agoMs) / 1_000;
  utimesSync(path, at, at);
}

const isFree = () => findHolder(path) === undefined;

const child = fileURLToPath(new URL("./lease-child.ts", import.meta.url));

async function startChild() {
  const started = spawn(process.execPath, ["--conditions", "@pi-agent/source", child, path], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const closed = new Promise((resolve) => started.once("close", resolve));
  const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]();
  const next = async () => String((await lines.next()).value);
  const kill = async () => (started.kill("SIGKILL"), void (await closed));
  onTestFinished(kill);
  await next();
  return { pid: started.pid!, kill, take: () => (started.stdin.write("\n"), next()) };
}

test("a lease is for its owner only, tells who has it, and goes when it is given back", () => {
  const lease = take();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const refused = takeLease(path);
  expect(refused).toEqual({ holder: { pid: process.pid, host: hostname(), since: expect.stringMatching(/Z$/) } });
  expect(findHolder(path)).toEqual((refused as { holder: object }).holder);
  lease.release();
  expect(readdirSync(folder)).toEqual([]);
  expect(isFree()).toBe(true);
});

describe("S3 one who is gone blocks nobody", () => {
  test("kill -9", async () => {
    const other = await startChild();
    expect(await other.take()).toBe("held");
    expect(takeLease(path)).toMatchObject({ holder: { pid: other.pid } });
    await other.kill();
    expect(isFree()).toBe(true);
    take();
  });

  test.runIf(process.platform === "linux")("a process id that was given again", () => {
    leave({ started: "1" });
    expect(isFree()).toBe(true);
    take();
  });

  test("a restart of the machine, whatever has the process id now", () => {
    leave({ machine: "another boot", started: "" }, uptime() * 1_000 + 60_000);
    take();
  });

  test.each(["", "no lease", "null", '{"type":"lease"}'])("a lease that says nothing: %j", (text) => {
    writeFileSync(path, text);
    take();
  });

  test("of ten who take it at once, one has it", async () => {
    leave({ pid: 2 ** 22 + 1 });
    const others = await Promise.all(Array.from({ length: 10 }, startChild));
    const answers = await Promise.all(others.map((each) => each.take()));
    expect(answers.filter((answer) => answer === "held")).toHaveLength(1);
    const { pid } = others[answers.indexOf("held")]!;
    expect(new Set(answers)).toEqual(new Set(["held", `refused ${pid}`]));
    expect(readdirSync(folder)).toEqual(["s-1.lease"]);
  }, 60_000);
});

describe("S3 on a shared folder, one of another machine", () => {
  test.each([
    ["another host", { host: "elsewhere", pid: 1 }],
    ["another space of process ids", { machine: "a container's", pid: 2 ** 22 + 1 }],
  ])("counts while it beats: %s", (_name, record) => {
    leave(record, STALE_MS / 2);
    expect(takeLease(path)).toMatchObject({ holder: { pid: record.pid } });
    leave(record, STALE_MS + 5_000);
    take();
    expect(readdirSync(folder)).toEqual(["s-1.lease"]);
  });

  test("one from the future blocks nobody", () => {
    leave({ host: "elsewhere" }, -STALE_MS - 5_000);
    take();
  });

  test("each beat says that it is there", () => {
    const lease = take();
    const stampOf = (name: string) => statSync(name).mtimeMs;
    const long = (Date.now() - 10 * STALE_MS) / 1_000;
    utimesSync(path, long, long);
    const other = join(folder, "written before");
    writeFileSync(other, "");
    lease.beat();
    expect(stampOf(path)).toBeGreaterThanOrEqual(stampOf(other));
  });

  test("what another one took meanwhile is left to it", () => {
    const lease = take();
    expect(lease.isHeld).toBe(true);
    leave({ host: "elsewhere", token: "theirs" });
    lease.beat();
    expect(lease.isHeld).toBe(false);
    lease.release();
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ token: "theirs" });
  });

  test("a lease that was deleted is made again", () => {
    const lease = take();
    rmSync(path);
    lease.beat();
    expect(findHolder(path)).toMatchObject({ pid: process.pid });
    expect(lease.isHeld).toBe(true);
  });
});

test("S4 a folder that cannot be had stops nobody, and the lease is made when it can", () => {
  const place = join(folder, "gone");
  writeFileSync(place, "a file where the folder should be");
  const lease = take(leasePath(place, "s-1"));
  expect(lease.isHeld).toBe(false);
  rmSync(place);
  lease.beat();
  expect(lease.isHeld).toBe(true);
  expect(existsSync(leasePath(place, "s-1"))).toBe(true);
});

describe("in a stranger's folder", () => {
  test.runIf(process.platform === "linux").each([
    ["a pipe, which nobody writes to", () => execFileSync("mkfifo", [path])],
    ["a folder", () => mkdirSync(path)],
    ["a large file", () => writeFileSync(path, " ".repeat(5_000) + JSON.stringify({ ...thisHolder(), pid: 1 }))],
  ])("what is no lease is set aside, and not waited for: %s", (_name, make) => {
    make();
    expect(isFree()).toBe(true);
    take();
    expect(findHolder(path)).toMatchObject({ pid: process.pid });
  });

  test("no link is followed", () => {
    const victim = join(folder, "victim");
    writeFileSync(victim, JSON.stringify({ ...thisHolder(), host: "elsewhere" }));
    symlinkSync(victim, path);
    expect(isFree()).toBe(true);
    const before = readFileSync(victim, "utf8");
    leaveLinks(victim);
    leaveAt(join(folder, "s-2.lease"), 2 * STALE_MS);
    take(join(folder, "s-2.lease"));
    expect(readFileSync(victim, "utf8")).toBe(before);
  });

  function leaveLinks(victim: string): void {
    symlinkSync(victim, join(folder, `s-2.lease.${process.pid}.tmp`));
  }

  function leaveAt(at: string, agoMs: number): void {
    writeFileSync(at, JSON.stringify({ ...thisHolder(), host: "elsewhere" }));
    const then = (Date.now() - agoMs) / 1_000;
    utimesSync(at, then, then);
  }
});

test.each(["../../etc/passwd", "a/b", "x".repeat(300), "", "it's"])("an id never makes a path: %s", (id) => {
  const at = leasePath(folder, id);
  expect(join(at, "..")).toBe(folder);
  take(at);
  expect(readdirSync(folder)).toHaveLength(1);
});
