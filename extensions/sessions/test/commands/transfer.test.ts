import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSession } from "../../src/read.ts";
import { header, lines, message } from "../support.ts";
import { sessionFiles, talk } from "./talk.ts";

test("/export writes a page, or the branch as a session file of its own, and tells where", async () => {
  const { type, told, path, agent } = await talk();
  await type("/export");
  expect(told()).toMatch(/^error: There is nothing to export/);
  await type("one <b>bold</b>");
  await type("/name Mine");
  told();
  await type("/export out.html");
  expect(told()).toBe(`Written: ${join(path, "out.html")}`);
  expect(readFileSync(join(path, "out.html"), "utf8")).toContain("one &lt;b&gt;bold&lt;/b&gt;");
  await type("/export branch.jsonl");
  const { header: of, entries, problems } = readSession(join(path, "branch.jsonl"))!;
  expect(problems).toEqual([]);
  expect(of).toMatchObject({ version: 3, cwd: path });
  expect(of).not.toHaveProperty("parentSession");
  expect(of.id).not.toBe(agent.sessionId);
  expect(entries.at(-1)).toMatchObject({ type: "session_info", name: "Mine" });
  expect(statSync(join(path, "branch.jsonl")).mode & 0o777).toBe(0o600);
});

test("an export never writes over a session, nor over any file of lines; a folder that is none is told", async () => {
  const { type, told, path, agent } = await talk();
  await type("one");
  const { file = "" } = agent.service("sessions")!.current!;
  const before = readFileSync(file, "utf8");
  writeFileSync(join(path, "kept.jsonl"), "kept");
  symlinkSync(file, join(path, "link.html"));
  writeFileSync(join(path, "notes.md"), "kept");
  symlinkSync(join(path, "notes.md"), join(path, "other.html"));
  const wrong = ["kept.jsonl", "notes.md", "other.html", "-", "/dev/null", "no/such/folder.html"];
  for (const to of [file, join(path, "link.html"), ...wrong]) {
    told();
    await type(`/export ${to}`);
    expect(told()).toMatch(/^error: .+\n {2}try: .+$/);
  }
  expect(readFileSync(file, "utf8")).toBe(before);
  expect(readFileSync(join(path, "kept.jsonl"), "utf8")).toBe("kept");
  expect(readFileSync(join(path, "notes.md"), "utf8")).toBe("kept");
  expect(existsSync(join(path, "-"))).toBe(false);
  await type("/export page.html");
  await type("/export page.html");
  expect(told()).not.toContain("error");
  expect(readdirSync(path).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

test("/import takes a file in under a name made of its header, keeps its id and folder, and goes on with it", async () => {
  const { type, told, path, said, folder, agent } = await talk();
  const file = join(path, "theirs.jsonl");
  const text = lines(header({ cwd: path, id: "theirs-1" }), message("a", null, "said elsewhere"));
  writeFileSync(file, text);
  await type("/import theirs.jsonl");
  expect(told()).toContain("Going on with: said elsewhere");
  expect(agent.sessionId).toBe("theirs-1");
  expect(said()).toHaveLength(1);
  const [copy] = sessionFiles(folder).filter((name) => name.includes("theirs-1"));
  expect(copy!.endsWith("2026-01-02T03-04-05-678Z_theirs-1.jsonl")).toBe(true);
  await type("goes on");
  expect(readFileSync(file, "utf8")).toBe(text);
  expect(readFileSync(copy!, "utf8").startsWith(text)).toBe(true);
  // It is there already, and another of its name gets a number.
  await type("/new");
  await type(`/import ${copy!}`);
  expect(sessionFiles(folder).filter((name) => name.includes("theirs-1"))).toHaveLength(1);
});

test("a session that is there already is not imported again: two of one id are told apart by nobody", async () => {
  const { type, told, path, agent, folder, said } = await talk();
  await type("one");
  const { file = "", id } = agent.service("sessions")!.current!;
  writeFileSync(join(path, "copy.jsonl"), readFileSync(file));
  await type("two");
  told();
  await type("/import copy.jsonl");
  expect(told()).toMatch(/^error: .*is there already.*\n {2}try: .*--fork .*copy\.jsonl$/);
  expect(told()).not.toContain("Imported");
  expect(agent.sessionId).toBe(id);
  expect(said()).toHaveLength(2);
  expect(sessionFiles(folder)).toEqual([file]);
});

test("S6 an id never makes a path, in the name of an import or of an export", async () => {
  const { type, path, home, folder, agent, told } = await talk();
  const before = readdirSync(home);
  for (const id of ["../../../escaped", "/tmp/escaped", "..", "a\0b", "x".repeat(5_000)]) {
    writeFileSync(
      join(path, "hostile.jsonl"),
      lines(header({ cwd: path, id, timestamp: "../".repeat(99) }), message("a", null)),
    );
    await type("/import hostile.jsonl");
    expect(agent.sessionId).toBe(id);
    await type("goes on");
    await type("/export");
    expect(told()).toContain(`Written: ${path}/pi-session-`);
  }
  expect(sessionFiles(folder)).toHaveLength(5);
  expect(readdirSync(home)).toEqual(before);
  expect(readdirSync(join(path, "..")).some((name) => name.includes("escaped"))).toBe(false);
});

test("what is no session, or cannot be copied, is told, and the session goes on", async () => {
  const { type, told, path, agentDir, said } = await talk();
  await type("one");
  writeFileSync(join(path, "text.jsonl"), "no session\n");
  writeFileSync(join(path, "empty.jsonl"), "");
  const file = join(path, "elsewhere.jsonl");
  const cwd = join(path, "sub");
  mkdirSync(cwd);
  writeFileSync(file, lines(header({ cwd, id: "elsewhere" }), message("a", null)));
  // A file where its folder would be.
  writeFileSync(join(agentDir, "sessions", `--${cwd.slice(1).replaceAll("/", "-")}--`), "in the way");
  for (const wrong of ["", "nope.jsonl", "text.jsonl", "empty.jsonl", "elsewhere.jsonl"]) {
    told();
    await type(`/import ${wrong}`);
    expect(told()).toMatch(/^error: .+\n {2}try: .+$/);
  }
  expect(said().map(({ text }) => text)).toEqual(["one"]);
  expect(existsSync(file)).toBe(true);
});
