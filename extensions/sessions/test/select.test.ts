import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { selectSession } from "../src/select.ts";
import { header, lines, message, tempFolder } from "./support.ts";

let cwd: string;
let agentFolder: string;
beforeEach(() => {
  cwd = tempFolder();
  agentFolder = tempFolder();
  vi.stubEnv("PI_CODING_AGENT_DIR", agentFolder);
  vi.stubEnv("PI_CODING_AGENT_SESSION_DIR", "");
});
afterEach(() => vi.unstubAllEnvs());

function select(flags: Record<string, unknown> = {}, configuredDir?: string) {
  return selectSession({ flags: new Map(Object.entries(flags)), cwd, configuredDir });
}

function failure(flags: Record<string, unknown>): Record<string, unknown> {
  try {
    select(flags);
  } catch (error) {
    return error as Record<string, unknown>;
  }
  throw new Error("It did not fail.");
}

/** Writes a session where the agent would have; later ones are newer. */
let clock = 1_700_000_000;
function store(id: string, where = cwd): string {
  const folder = join(agentFolder, "sessions", `--${where.slice(1).replaceAll("/", "-")}--`);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `2026_${id}.jsonl`);
  writeFileSync(path, lines(header({ id, cwd: where }), message("a", null)));
  utimesSync(path, ++clock, clock);
  return path;
}

test("without flags a session begins, and nothing is made on disk", () => {
  const session = select();
  expect(session).toMatchObject({ entries: [], header: { version: 3, cwd } });
  expect(session.file).toContain(join(agentFolder, "sessions", `--${cwd.slice(1).replaceAll("/", "-")}--`));
  expect(session.file).toMatch(/\/[\d-]+T[\d-]+Z_[0-9a-f-]{36}\.jsonl$/);
  expect(session).not.toHaveProperty("sizeBytes");
});

test("--continue goes on with the newest session of this folder, or begins one", () => {
  expect(select({ continue: true }).entries).toEqual([]);
  store("old");
  const newest = store("new");
  store("foreign", tempFolder());
  expect(select({ continue: true })).toMatchObject({ file: newest, header: { id: "new" }, entries: [{ id: "a" }] });
});

test("--session takes an id or its beginning", () => {
  store("abc");
  store("abd");
  expect(select({ session: "abc" }).header.id).toBe("abc");
  expect(failure({ session: "ab" })).toMatchObject({ code: "session_ambiguous", hint: expect.any(String) });
  expect(failure({ session: "x" })).toMatchObject({ code: "session_not_found", hint: expect.any(String) });
});

test("--session with an id of another folder says where it is", () => {
  const other = tempFolder();
  const path = store("far", other);
  const error = failure({ session: "far" });
  expect(error).toMatchObject({ code: "session_elsewhere", hint: expect.stringContaining(path) });
  expect(error.message).toContain(other);
  expect(select({ session: path }).header.cwd).toBe(other);
});

test("--session takes a path: of a file, of one to be made, of an empty one", () => {
  expect(select({ session: store("x") }).header.id).toBe("x");
  const made = select({ session: "new.jsonl" });
  expect(made).toMatchObject({ file: join(cwd, "new.jsonl"), entries: [] });
  writeFileSync(join(cwd, "empty.jsonl"), "");
  expect(select({ session: "./empty.jsonl" })).toMatchObject({ file: join(cwd, "empty.jsonl"), sizeBytes: 0 });
});

test("--session of a file that is no session fails in three parts and leaves it untouched", () => {
  writeFileSync(join(cwd, "notes.jsonl"), "mine\n");
  expect(failure({ session: "notes.jsonl" })).toMatchObject({
    code: "session_invalid",
    message: expect.stringContaining("notes.jsonl"),
    hint: expect.any(String),
  });
  expect(readFileSync(join(cwd, "notes.jsonl"), "utf8")).toBe("mine\n");
});

test("a session whose folder is gone says so", () => {
  const gone = tempFolder();
  const path = store("x", gone);
  rmSync(gone, { recursive: true });
  expect(failure({ session: path })).toMatchObject({ code: "session_cwd_missing", hint: expect.any(String) });
});

test("--session-id goes on with that very session, or begins it", () => {
  store("abc");
  expect(select({ "session-id": "abc" }).entries).toHaveLength(1);
  const begun = select({ "session-id": "ab" });
  expect(begun).toMatchObject({ entries: [], header: { id: "ab" } });
  expect(begun.file).toMatch(/_ab\.jsonl$/);
});

test("S6 --session-id refuses what could lead elsewhere", () => {
  for (const id of ["../../x", "a/b", ".", ""]) {
    expect(failure({ "session-id": id })).toMatchObject({ code: "flag_value", hint: expect.any(String) });
  }
});

test("--session-id beside --session or --continue is refused", () => {
  expect(failure({ "session-id": "a", session: "b" })).toMatchObject({ code: "flag_conflict" });
  expect(failure({ "session-id": "a", continue: true })).toMatchObject({ code: "flag_conflict" });
});

test("--no-session has no file", () => {
  store("x");
  expect(select({ "no-session": true, continue: true })).toMatchObject({ file: undefined, entries: [] });
});

test("the folder is that of the flag, else of the environment, else of the settings", () => {
  expect(select({}, "configured").file).toContain(join(cwd, "configured"));
  vi.stubEnv("PI_CODING_AGENT_SESSION_DIR", join(cwd, "env"));
  expect(select({}, "configured").file).toContain(join(cwd, "env"));
  expect(select({ "session-dir": "flagged" }, "configured").file).toContain(join(cwd, "flagged"));
});
