import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, uptime } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type HolderRecord, thisHolder } from "../src/holder.ts";
import { BEAT_MS, findHolder, Lease, leasePath, STALE_MS, takeLease } from "../src/lease.ts";
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

  test("each beat says that it is there", () => {
    const lease = take();
    const long = (Date.now() - 10 * STALE_MS) / 1_000;
    utimesSync(path, long, long);
    lease.beat();
    expect(Date.now() - statSync(path).mtimeMs).toBeLessThan(BEAT_MS);
  });

  test("what another one took meanwhile is left to it", () => {
    const lease = take();
    leave({ host: "elsewhere", token: "theirs" });
    lease.beat();
    lease.release();
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ token: "theirs" });
  });

  test("a lease that was deleted is made again", () => {
    const lease = take();
    rmSync(path);
    lease.beat();
    expect(findHolder(path)).toMatchObject({ pid: process.pid });
  });
});

test("S4 a folder that cannot be had stops nobody, and the lease is made when it can", () => {
  const place = join(folder, "gone");
  writeFileSync(place, "a file where the folder should be");
  const lease = take(leasePath(place, "s-1"));
  rmSync(place);
  lease.beat();
  expect(existsSync(leasePath(place, "s-1"))).toBe(true);
});

test.each(["../../etc/passwd", "a/b", "x".repeat(300), "", "it's"])("an id never makes a path: %s", (id) => {
  const at = leasePath(folder, id);
  expect(join(at, "..")).toBe(folder);
  take(at);
  expect(readdirSync(folder)).toHaveLength(1);
});
