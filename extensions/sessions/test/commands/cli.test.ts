import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { CliIo } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { header, lines, message } from "../support.ts";
import { sessionFiles, type Talk, talk } from "./talk.ts";

/** Runs a sub-command of the agent; answers its exit code and what it wrote. */
async function pi(one: Talk, name: string, ...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const io = { cwd: one.path, stdout, stderr } as unknown as CliIo;
  const code = (await one.agent.registry("cli").get(name)!.value.run(args, io)) as number;
  const read = (stream: PassThrough) => (stream.read() as Buffer | null)?.toString() ?? "";
  return { code, out: read(stdout), err: read(stderr) };
}

async function withTwo(): Promise<Talk> {
  const one = await talk();
  await one.type("about apples");
  await one.type("/name Apples");
  // A fork keeps the name of what it comes from.
  await one.type("/fork", "about apples");
  await one.type("about pears");
  await one.type("/name Pears");
  await one.agent.dispatch("transcript_flush", { reason: "settled" });
  return one;
}

test("pi sessions lists those of the folder, newest first, as lines and as data", async () => {
  const one = await withTwo();
  expect((await pi(one, "sessions")).out.split("\n").map((line) => /(Apples|Pears)/.exec(line)?.[0])).toEqual([
    "Pears",
    "Apples",
    undefined,
  ]);
  const { out, code } = await pi(one, "sessions", "list", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject([
    { cwd: one.path, name: "Pears", firstMessage: "about pears" },
    { cwd: one.path, name: "Apples" },
  ]);
  const elsewhere = { ...one, path: "/elsewhere" };
  expect((await pi(elsewhere, "sessions")).out).toBe(
    "There are no sessions of this folder; --all lists those of all.\n",
  );
  expect((await pi(elsewhere, "sessions", "list", "--all")).out).toContain(one.path);
});

test("pi sessions show tells what a session holds; a file may be named too", async () => {
  const one = await withTwo();
  const { out } = await pi(one, "sessions", "show", "Apples");
  expect(out).toMatch(
    /^name {5}Apples\nid {7}[0-9a-f-]{36}\nfile .+\nfolder .+\nbegun .+\nholds {4}1 prompts, 1 answers, 0 results of 0 calls; \d+ entries on all branches\ntook {5}/,
  );
  const [file] = sessionFiles(one.folder);
  const data = JSON.parse((await pi(one, "sessions", "show", file!, "--json")).out);
  expect(data).toMatchObject({ type: "session", file, problems: [], statistics: { userMessages: 1 } });
});

test("pi export writes a page or a branch, and tells where; --export is the same", async () => {
  const one = await withTwo();
  const { out, code } = await pi(one, "export", "Apples", "apples.html");
  expect([code, out]).toEqual([0, `${join(one.path, "apples.html")}\n`]);
  expect(readFileSync(join(one.path, "apples.html"), "utf8")).toContain("about apples");
  await pi(one, "export", "Apples", "apples.jsonl");
  const again = await pi(one, "export", "apples.jsonl");
  expect(again.out).toBe(`${join(one.path, "pi-session-apples.html")}\n`);
});

test("pi sessions import takes a file in, and delete takes one away for good", async () => {
  const one = await withTwo();
  const file = join(one.path, "theirs.jsonl");
  writeFileSync(file, lines(header({ cwd: one.path, id: "theirs" }), message("a", null)));
  const { out } = await pi(one, "sessions", "import", "theirs.jsonl");
  expect(existsSync(out.trim())).toBe(true);
  expect(sessionFiles(one.folder)).toHaveLength(3);
  expect((await pi(one, "sessions", "delete", "theirs")).out).toBe("deleted theirs\n");
  expect(sessionFiles(one.folder)).toHaveLength(2);
  expect(existsSync(file)).toBe(true);
  // Nor is a file deleted that is no session of one's own.
  expect((await pi(one, "sessions", "delete", file)).code).toBe(1);
  expect(existsSync(file)).toBe(true);
  // The one that goes on is held.
  expect((await pi(one, "sessions", "delete", one.agent.sessionId)).err).toContain("in use");
});

test("what cannot be done is told in three parts: exit 2 for a wrong command, 1 for a session that is not there", async () => {
  const one = await withTwo();
  for (const args of [
    ["show"],
    ["frobnicate"],
    ["list", "x"],
    ["delete", "Apples", "--json"],
    ["show", "a", "--all"],
  ]) {
    const { code, err } = await pi(one, "sessions", ...args);
    expect([code, err]).toEqual([2, expect.stringMatching(/^error: .+\n {2}why: .+\n {2}try: pi sessions help\n$/)]);
  }
  for (const args of [
    ["show", "cherries"],
    ["show", "about"],
    ["import", "nope.jsonl"],
    ["export", "nope.jsonl"],
  ]) {
    const { code, err } = await pi(one, "sessions", ...args);
    expect([code, err]).toEqual([1, expect.stringMatching(/^error: .+\n {2}try: .+\n$/)]);
  }
  expect((await pi(one, "sessions", "help")).out).toMatch(/^Usage: pi sessions/);
});

test("what others named a session neither moves nor hides what a terminal shows", async () => {
  const one = await talk();
  await one.type("\u001b[2Jgone \u202e");
  await one.agent.dispatch("transcript_flush", { reason: "settled" });
  const { out } = await pi(one, "sessions");
  expect(out).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
});
