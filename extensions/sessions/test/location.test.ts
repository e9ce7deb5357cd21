import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { fileName, findPlace, folderName, isPath, isSessionId, newSessionId } from "../src/location.ts";

test("sessions are in the agent folder, below one folder for each working directory", () => {
  vi.stubEnv("PI_CODING_AGENT_DIR", "");
  const root = join(homedir(), ".pi/agent/sessions");
  expect(findPlace("/work/my-app", undefined)).toEqual({
    folder: join(root, "--work-my-app--"),
    isShared: false,
    root,
  });
  vi.stubEnv("PI_CODING_AGENT_DIR", "~/elsewhere");
  expect(findPlace("/w", undefined).root).toBe(join(homedir(), "elsewhere/sessions"));
  vi.unstubAllEnvs();
});

test("a chosen folder is flat, may begin with a tilde, and is relative to the working directory", () => {
  expect(findPlace("/w", "kept")).toEqual({ folder: "/w/kept", isShared: true, root: "/w/kept" });
  expect(findPlace("/w", "~/kept").folder).toBe(join(homedir(), "kept"));
  expect(findPlace("/w", "~kept").folder).toBe("/w/~kept");
});

test("folder and file names are Pi's", () => {
  expect(folderName("/a/b-c")).toBe("--a-b-c--");
  expect(folderName("C:\\work\\x")).toBe("--C--work-x--");
  expect(fileName("abc", "2026-01-02T03:04:05.678Z")).toBe("2026-01-02T03-04-05-678Z_abc.jsonl");
});

test("S6 an id never makes a path", () => {
  for (const id of ["../x", "a/b", "a\\b", ".hidden", "a.", "-x", "", "a\0b", "C:x", " x"]) {
    expect(isSessionId(id)).toBe(false);
    expect(fileName(id, "t")).toMatch(/^t_[0-9a-f-]{36}\.jsonl$/);
  }
  for (const id of ["a", "A-1_b.c", newSessionId()]) expect(isSessionId(id)).toBe(true);
});

test("new ids are UUIDs of version 7 that sort by time", () => {
  const ids = [newSessionId(1), newSessionId(1_700_000_000_000), newSessionId()];
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(ids.toSorted()).toEqual(ids);
});

test("what has a separator, begins with a tilde or ends in .jsonl is a path, all else an id", () => {
  expect(["./x", "a/b", "x.jsonl", "a\\b", "~/x", "~"].every(isPath)).toBe(true);
  expect(["0190", "abc-def", "x.json"].some(isPath)).toBe(false);
});
