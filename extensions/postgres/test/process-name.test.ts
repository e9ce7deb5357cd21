import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { takeLock } from "../src/lock.ts";
import { lookAfter, ownProcessName } from "../src/process-name.ts";
import { Spool } from "../src/spool.ts";
import { isLeft, listFolders } from "../src/spool-folder.ts";
import { tempFolder } from "./hubs.ts";

const [pid = "", start = "", place = ""] = ownProcessName().split("-");
// As after a restart of this host, or in another container on it.
const OTHER_SPACE = `${place.slice(0, 8)}00000000`;

let folder = "";
let remove = async () => {};

beforeEach(async () => {
  ({ path: folder, remove } = await tempFolder());
});
afterEach(() => remove());

test("a process is told apart from a later one with its number", () => {
  expect(lookAfter(ownProcessName())).toBe("alive");
  expect(lookAfter(`${pid}-1-${place}`)).toBe(process.platform === "win32" ? "alive" : "dead");
  expect(lookAfter(`999999999-${start}-${place}`)).toBe("dead");
});

test("D3 nobody looks after a process of another host, of another space of process ids, or without a proper name", () => {
  for (const name of ["1-1-elsewhere", `${pid}-${start}-${OTHER_SPACE}`, `999999999-1-${OTHER_SPACE}`, "nonsense"]) {
    expect(lookAfter(name), name).toBe("elsewhere");
  }
});

test("D3 a restart of the host has ended whoever showed up before it, and of other hosts nobody", () => {
  const beforeBoot = Date.now() - uptime() * 1_000 - 60_000;
  expect(lookAfter(`${pid}-${start}-${OTHER_SPACE}`, beforeBoot)).toBe("dead");
  expect(lookAfter("1-1-elsewhere", beforeBoot)).toBe("elsewhere");
  const held = join(folder, "postgres", `lock.1-1-${OTHER_SPACE}.abc`);
  mkdirSync(join(folder, "postgres"));
  writeFileSync(held, "");
  expect(takeLock(join(folder, "postgres"))).toEqual({ holder: `1-1-${OTHER_SPACE}` });
  utimesSync(held, beforeBoot / 1_000, beforeBoot / 1_000);
  expect(takeLock(join(folder, "postgres"))).toHaveProperty("release");
});

test("D3 a spool of another space that was written to a moment ago belongs to its process, also when it holds no file yet", () => {
  const owner = `999999999-1-${OTHER_SPACE}`;
  mkdirSync(join(folder, "spool", `${owner}.abc.here`), { recursive: true });
  const [found] = listFolders(join(folder, "spool"));
  expect(isLeft(found!)).toBe(false);
});

const UNSHARE = [
  ["-p", "-f"],
  ["-r", "-p", "-f"],
].find((args) => spawnSync("unshare", [...args, "true"]).status === 0);

describe.skipIf(!UNSHARE)(`in another space of process ids${UNSHARE ? "" : " (unshare makes none here)"}`, () => {
  test("D3 a living process is not taken for dead: not its lock, not its spool", async () => {
    const [database, spool] = [join(folder, "postgres"), join(folder, "spool")];
    const lock = takeLock(database);
    const writing = new Spool({ spool, target: "here" });
    writing.line({ t: "release", at: 1, session: "s", token: "t" });
    writing.flush();
    const source = (name: string) => JSON.stringify(join(import.meta.dirname, "../src", name));
    const code = `import { takeLock } from ${source("lock.ts")};
      import { lookAfter } from ${source("process-name.ts")};
      import { isLeft, listFolders } from ${source("spool-folder.ts")};
      const [database, spool, name] = process.argv.slice(1);
      const lock = takeLock(database);
      const left = listFolders(spool).map(isLeft);
      console.log(JSON.stringify({ state: lookAfter(name), holder: lock.holder, left }));`;
    const args = ["--input-type=module-typescript", "-e", code, database, spool, ownProcessName()];
    const { stdout } = await promisify(execFile)("unshare", [...UNSHARE!, process.execPath, ...args]);
    expect(JSON.parse(stdout)).toEqual({ state: "elsewhere", holder: ownProcessName(), left: [false] });
    expect(readdirSync(spool)).toHaveLength(1);
    writing.close();
    if ("release" in lock) lock.release();
  }, 30_000);
});
