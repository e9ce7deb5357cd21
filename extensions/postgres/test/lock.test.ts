import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, renameSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { threadId } from "node:worker_threads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { freeLockOf, type Lock, takeLock, wantLock } from "../src/lock.ts";
import { ownProcessName } from "../src/process-name.ts";
import { tempFolder } from "./hubs.ts";

let folder = "";
let remove = async () => {};

beforeEach(async () => {
  const temp = await tempFolder();
  folder = join(temp.path, "postgres");
  remove = temp.remove;
});
afterEach(() => remove());

function taken(): Lock {
  const lock = takeLock(folder);
  return "release" in lock ? lock : expect.unreachable();
}

test("D3 a folder has one holder, also within a process, and is free again afterwards", () => {
  const lock = taken();
  expect(takeLock(folder)).toEqual({ holder: ownProcessName() });
  lock.release();
  taken().release();
  expect(readdirSync(folder)).toEqual(["lock.free"]);
});

test("D3 a lock of a process that died, or whose number another one has by now, is taken over", () => {
  taken().release();
  const [pid, start, host] = ownProcessName().split("-");
  for (const dead of [`999999-${start}-${host}`, `${pid}-1-${host}`]) {
    renameSync(join(folder, "lock.free"), join(folder, `lock.${dead}.abc`));
    taken().release();
  }
});

test("D3 a holder on another host counts while it touches its file", () => {
  taken().release();
  renameSync(join(folder, "lock.free"), join(folder, "lock.1-1-elsewhere.abc"));
  expect(takeLock(folder)).toEqual({ holder: "1-1-elsewhere" });
});

test("D3 what a thread that is gone has held is free, and what another one holds is not", () => {
  taken();
  freeLockOf(folder, threadId + 1);
  expect(takeLock(folder)).toEqual({ holder: ownProcessName() });
  freeLockOf(folder, threadId);
  taken().release();
});

test("a holder hears that somebody waits, until he no longer does, is dead, or asked from elsewhere long ago", () => {
  const lock = taken();
  expect(lock.isWanted()).toBe(false);
  const unwant = wantLock(folder);
  expect(lock.isWanted()).toBe(true);
  unwant();
  expect(lock.isWanted()).toBe(false);
  writeFileSync(join(folder, `wanted.999999-1-${ownProcessName().split("-")[2]}.abc`), "");
  expect(lock.isWanted()).toBe(false);
  const elsewhere = join(folder, "wanted.1-1-elsewhere.abc");
  writeFileSync(elsewhere, "");
  expect(lock.isWanted()).toBe(true);
  const longAgo = Date.now() / 1_000 - 60;
  utimesSync(elsewhere, longAgo, longAgo);
  expect(lock.isWanted()).toBe(false);
  lock.release();
});

test("a folder without its lock file says what to do", () => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "something"), "");
  expect(() => takeLock(folder)).toThrow(
    expect.objectContaining({ code: "database_failed", hint: expect.stringContaining("lock.free") }),
  );
});

test("D3 of many processes that start at once on no folder, or on that of a dead one, exactly one gets it", async () => {
  for (const round of [0, 1]) {
    const children = Array.from({ length: 8 }, () => startTaker(folder));
    const said = await Promise.all(children.map((child) => child.said));
    expect(said.filter((word) => word === "taken")).toHaveLength(1);
    expect(existsSync(folder)).toBe(true);
    await Promise.all(children.map((child) => child.kill()));
    expect(readdirSync(folder), `round ${round}`).toHaveLength(1);
  }
}, 60_000);

function startTaker(path: string): { said: Promise<string>; kill(): Promise<void> } {
  const code = `import { takeLock } from ${JSON.stringify(join(import.meta.dirname, "../src/lock.ts"))};
    process.stdout.write("release" in takeLock(process.argv[1]) ? "taken" : "held");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", code, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return {
    said: once(child.stdout, "data").then(([data]) => String(data)),
    async kill() {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}
