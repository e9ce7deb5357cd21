import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, realpathSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { changeFile } from "../src/file-lock.ts";
import { versionOf } from "../src/file-version.ts";
import { createEditTool } from "../src/index.ts";
import { replaceFile } from "../src/replace-file.ts";
import { call, tempFolder } from "./tool-call.ts";

const child = join(import.meta.dirname, "edit-child.ts");
const lockOf = (path: string) =>
  join(tmpdir(), `pi-locks-${process.geteuid!()}`, createHash("sha256").update(realpathSync(path)).digest("hex"));

test("two processes that edit one file lose no edit, and leave no lock", async () => {
  const cwd = tempFolder();
  const file = join(cwd, "file");
  writeFileSync(file, "a=0;\nb=0;\n");
  const run = promisify(execFile);
  const flags = ["--conditions", "@pi-agent/source", child, file];
  await Promise.all(["a", "b"].map((name) => run(process.execPath, [...flags, name, "25"])));
  expect(readFileSync(file, "utf8")).toBe("a=25;\nb=25;\n");
  expect(readdirSync(cwd)).toEqual(["file"]);
  expect(existsSync(lockOf(file))).toBe(false);
});

test("a lock is held while a file is changed, and one of a dead process or an old one is taken over", async () => {
  const file = join(tempFolder(), "file");
  writeFileSync(file, "");
  const lock = lockOf(file);
  await changeFile(file, undefined, () => expect(readFileSync(lock, "utf8")).toBe(String(process.pid)));
  expect(existsSync(lock)).toBe(false);
  // Above the highest process id of Linux.
  writeFileSync(lock, "4194305");
  await changeFile(file, undefined, () => expect(readFileSync(lock, "utf8")).toBe(String(process.pid)));
  writeFileSync(lock, "1");
  utimesSync(lock, 1, 1);
  await changeFile(file, undefined, () => expect(readFileSync(lock, "utf8")).toBe(String(process.pid)));
  expect(existsSync(lock)).toBe(false);
});

test("an abort ends the wait for a lock", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "file"), "a");
  const abort = new AbortController();
  await changeFile(join(cwd, "other"), undefined, async () => {
    const lock = lockOf(join(cwd, "file"));
    writeFileSync(lock, "1");
    const edits = [{ oldText: "a", newText: "b" }];
    const waiting = call(createEditTool(), { path: "file", edits }, { cwd, signal: abort.signal });
    abort.abort();
    expect(await waiting).toMatchObject({ isError: true, text: "Operation aborted" });
    expect(readFileSync(lock, "utf8")).toBe("1");
    utimesSync(lock, 1, 1);
    await changeFile(join(cwd, "file"), undefined, () => undefined);
  });
});

test("a file that another program changed since it was read is not replaced", () => {
  const cwd = tempFolder();
  const file = join(cwd, "file");
  writeFileSync(file, "old");
  const seen = versionOf(file);
  writeFileSync(file, "theirs");
  expect(() => replaceFile(file, Buffer.from("ours"), { seen })).toThrow("the file changed meanwhile");
  expect(readFileSync(file, "utf8")).toBe("theirs");
  expect(readdirSync(cwd)).toEqual(["file"]);
});
