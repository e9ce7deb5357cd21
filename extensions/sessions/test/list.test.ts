import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { findById, findNewest, listSessions } from "../src/list.ts";
import { findPlace } from "../src/location.ts";
import { header, lines, message, tempFolder } from "./support.ts";

let clock = 1_700_000_000;
/** Writes a file that is newer than those before it. */
function write(folder: string, name: string, content: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, content);
  utimesSync(path, ++clock, clock);
  return path;
}

function session(id: string, cwd: string, ...entries: object[]): string {
  return lines(header({ id, cwd }), ...entries);
}

test("a list shows what heads and tails tell, newest first", () => {
  const folder = tempFolder();
  const place = findPlace("/p", folder);
  const name = (text: string) => ({ type: "session_info", id: text, parentId: null, timestamp: "t", name: text });
  const filler = message("f", null, "x".repeat(300_000));
  const old = write(
    folder,
    "old.jsonl",
    session("old", "/p", name("first"), message("a", null, " Fix\n the  bug "), filler, name("last")),
  );
  const young = write(folder, "young.jsonl", session("young", "/p", message("a", null, "hello")));
  expect(listSessions(place, "/p")).toMatchObject([
    { path: young, id: "young", name: undefined, firstMessage: "hello" },
    { path: old, id: "old", name: "last", firstMessage: "Fix the bug", cwd: "/p", created: "2026-01-02T03:04:05.678Z" },
  ]);
});

test("F104 one bad file stops neither the list nor going on with the last session", () => {
  const folder = tempFolder();
  const place = findPlace("/p", folder);
  const good = write(folder, "good.jsonl", session("good", "/p", message("a", null)));
  const bare = write(folder, "bare.jsonl", session("bare", "/p"));
  const future = write(folder, "future.jsonl", lines(header({ id: "future", version: 9, cwd: "/p" })));
  write(folder, "empty.jsonl", "");
  write(folder, "binary.jsonl", "\0\u0001\u0002\n\u0003");
  write(folder, "text.jsonl", "no session\n");
  write(folder, "torn.jsonl", session("torn", "/p").slice(0, 40));
  write(folder, "other.txt", session("other", "/p"));
  mkdirSync(join(folder, "dir.jsonl"));
  symlinkSync(join(folder, "nowhere"), join(folder, "dangling.jsonl"));
  symlinkSync("loop.jsonl", join(folder, "loop.jsonl"));
  execFileSync("mkfifo", [join(folder, "pipe.jsonl")]);
  const huge = write(folder, "huge.jsonl", "");
  truncateSync(huge, 2 * 1024 ** 3);
  expect(listSessions(place, "/p").map(({ path }) => path)).toEqual([future, bare, good]);
  expect(findNewest(place, "/p")).toBe(future);
});

test("S6 folders whose names collide are told apart by the header's cwd", () => {
  vi.stubEnv("PI_CODING_AGENT_DIR", tempFolder());
  const place = findPlace("/a/b-c", undefined);
  expect(place).toEqual(findPlace("/a-b/c", undefined));
  const mine = write(place.folder, "1.jsonl", session("mine", "/a/b-c"));
  write(place.folder, "2.jsonl", session("theirs", "/a-b/c"));
  expect(findNewest(place, "/a/b-c")).toBe(mine);
  expect(listSessions(place, "/a/b-c").map(({ id }) => id)).toEqual(["mine"]);
  expect(findById(place, "theirs", "/a/b-c")).toEqual([]);
  expect(findById(place, "theirs")).toHaveLength(1);
  vi.unstubAllEnvs();
});

test("S6 a linked session folder is found, for one working directory and for all", () => {
  vi.stubEnv("PI_CODING_AGENT_DIR", tempFolder());
  const place = findPlace("/p", undefined);
  write(place.folder, "1.jsonl", session("x", "/p"));
  const elsewhere = join(tempFolder(), "moved");
  renameSync(place.folder, elsewhere);
  symlinkSync(elsewhere, place.folder);
  expect(listSessions(place, "/p")).toHaveLength(1);
  expect(listSessions(place)).toHaveLength(1);
  vi.unstubAllEnvs();
});

test("an id is found exactly, else by its beginning", () => {
  const folder = tempFolder();
  const place = findPlace("/p", folder);
  for (const id of ["ab", "abc", "abd"]) write(folder, `${id}.jsonl`, session(id, "/p"));
  const find = (id: string) => findById(place, id, "/p").map(({ header: found }) => found.id);
  expect(find("ab")).toEqual(["ab"]);
  expect(find("abd")).toEqual(["abd"]);
  expect(find("a")).toEqual(["abd", "abc", "ab"]);
  expect(find("x")).toEqual([]);
});

test("a header of several hundred kilobytes is read", () => {
  const folder = tempFolder();
  write(folder, "1.jsonl", lines(header({ id: "big", cwd: "/p", systemPrompt: "x".repeat(500_000) })));
  expect(findNewest(findPlace("/p", folder), "/p")).toBeDefined();
});
