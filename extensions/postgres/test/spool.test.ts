import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "@pi-agent/kernel";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readLine } from "../src/lines.ts";
import { Spool } from "../src/spool.ts";
import { listFiles, listFolders, NOBODY, spoolStatus, writeMark } from "../src/spool-folder.ts";
import { tempFolder } from "./hubs.ts";

let folder = "";
let remove = async () => {};
let told: (string | undefined)[] = [];

beforeEach(async () => {
  const temp = await tempFolder();
  folder = join(temp.path, "spool");
  remove = temp.remove;
  told = [];
});
afterEach(() => remove());

function openSpool(): Spool {
  return new Spool({ spool: folder, target: "here", onTrouble: (error) => void told.push(error?.message) });
}
function entry(id: string, text = "x"): Entry {
  return { type: "custom", id, parentId: null, timestamp: "2026-01-02T03:04:05.678Z", customType: "t", data: text };
}
function lines(): string[] {
  return listFolders(folder).flatMap(({ path }) =>
    listFiles(path).flatMap((file) => readFileSync(file.path, "utf8").split("\n").slice(0, -1)),
  );
}

test("D2 nothing is on disk before the first line, and every line that was flushed is", () => {
  const spool = openSpool();
  expect(existsSync(folder)).toBe(false);
  spool.entry(entry("a"), { session: "s" });
  spool.flush();
  expect(lines().map((line) => readLine(line)?.head)).toEqual([expect.objectContaining({ t: "entry", session: "s" })]);
  spool.close();
});

test("D2 what nobody flushes is on disk a moment later", async () => {
  const spool = openSpool();
  spool.entry(entry("a"), { session: "s" });
  await expect.poll(() => lines().length).toBe(1);
  spool.close();
});

test("a run and a session that keep the same entry share its line", () => {
  const spool = openSpool();
  const one = entry("a");
  spool.entry(one, { step: { run: "r", seq: 0, iteration: 0 } });
  spool.entry(one, { session: "s" });
  spool.entry(one, { session: "other" });
  spool.flush();
  const heads = lines().map((line) => readLine(line)?.head);
  expect(heads).toHaveLength(2);
  expect(heads[0]).toMatchObject({ session: "s", step: { run: "r" } });
  spool.close();
});

test("F151 the payload of a line is the entry's exact text", () => {
  const spool = openSpool();
  const odd = {
    ...entry("a"),
    data: {
      path: "x",
      a: 1,
      longer_key: 2,
      b: { z: 1, y: 2 },
      n: [1e2, 1e21, Number("10000000000000000001"), -0.5],
      s: "\0\uD800\u2028\t\n",
    },
  };
  spool.entry(odd as never, { session: "s" });
  spool.flush();
  expect(readLine(lines()[0]!)?.payload).toBe(JSON.stringify(odd));
  spool.close();
});

test("a torn or NUL-filled line is none", () => {
  for (const text of [
    "",
    "{",
    '{"t":"entry","at":1}',
    '{"t":"entry"}\t{}',
    '{"t":"odd","at":1}\t',
    "null\t",
    "\0\0\0\0",
  ]) {
    expect(readLine(text)).toBeUndefined();
  }
});

test("what went into the database leaves no file, once the spool is closed", () => {
  const spool = openSpool();
  spool.entry(entry("a"), { session: "s" });
  spool.flush();
  const [file] = listFiles(listFolders(folder)[0]!.path);
  spool.drained(file!.number, readFileSync(file!.path).length);
  spool.close();
  expect(readdirSync(folder)).toEqual([]);
});

test("what is left when it is closed belongs to nobody, so that the next one takes it", () => {
  const spool = openSpool();
  spool.entry(entry("a"), { session: "s" });
  spool.close();
  expect(listFolders(folder)).toEqual([expect.objectContaining({ owner: NOBODY, target: "here" })]);
  spool.entry(entry("late"), { session: "s" });
  spool.flush();
  expect(listFolders(folder).map(({ owner }) => owner)).toEqual([NOBODY, NOBODY]);
  expect(lines()).toHaveLength(2);
});

test("a file that grows large is followed by another one", () => {
  const spool = openSpool();
  for (const id of ["a", "b"]) {
    spool.entry(entry(id, "x".repeat(9_000_000)), { session: "s" });
    spool.flush();
  }
  expect(listFiles(listFolders(folder)[0]!.path).map(({ number }) => number)).toEqual([1, 2]);
  spool.close();
});

test("S4 a disk that takes nothing is told once; what was written meanwhile is kept, and written when it is back", () => {
  writeFileSync(folder, "in the way");
  const spool = openSpool();
  for (const id of ["a", "b", "c"]) {
    spool.entry(entry(id), { session: "s" });
    spool.flush();
  }
  expect(told).toEqual([expect.any(String)]);
  rmSync(folder);
  spool.entry(entry("d"), { session: "s" });
  spool.flush();
  expect(told).toEqual([expect.any(String), undefined]);
  expect(lines().map((line) => (JSON.parse(readLine(line)!.payload) as Entry).id)).toEqual(["a", "b", "c", "d"]);
  spool.close();
});

test("S4 lines that found no place in memory either are counted when it goes on, and not counted again the next time", () => {
  const lost: number[] = [];
  const onTrouble = (error: Error | undefined, count: number) => void (error ?? lost.push(count));
  const spool = new Spool({ spool: folder, target: "here", maxKeptChars: 500, onTrouble });
  for (const length of [200, 10]) {
    // So that it does not go on with the file that it has open.
    spool.close();
    rmSync(folder, { recursive: true, force: true });
    writeFileSync(folder, "in the way");
    for (const id of ["a", "b", "c"]) {
      spool.entry(entry(id, "x".repeat(length)), { session: "s" });
      spool.flush();
    }
    rmSync(folder);
    spool.flush();
  }
  expect(lost).toEqual([2, 0]);
});

test("pi runs can say how much waits, without what is in the database already", () => {
  const spool = openSpool();
  expect(spoolStatus(folder)).toEqual({ files: 0, lines: 0, bytes: 0 });
  for (const id of ["a", "b"]) spool.entry(entry(id), { session: "s" });
  spool.flush();
  const [file] = listFiles(listFolders(folder)[0]!.path);
  const sizes = lines().map((line) => Buffer.byteLength(line) + 1);
  expect(spoolStatus(folder)).toEqual({ files: 1, lines: 2, bytes: sizes[0]! + sizes[1]! });
  writeMark(file!.path, sizes[0]!);
  expect(spoolStatus(folder)).toEqual({ files: 1, lines: 1, bytes: sizes[1] });
  mkdirSync(join(folder, "not one of ours"));
  expect(spoolStatus(folder).files).toBe(1);
  spool.close();
});
