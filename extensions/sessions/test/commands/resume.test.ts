import { rmSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { matchSessions, sessionLine } from "../../src/commands/session-rows.ts";
import { readLines, talk } from "./talk.ts";

const INFO = { cwd: "/project", created: "2026-01-02T03:04:05.678Z", modifiedMs: Date.parse("2026-01-02T03:04:05Z") };

test("sessions are found by id, the beginning of it, the whole name, or a part of what is shown", () => {
  const all = [
    { ...INFO, id: "019aa-1", name: "Parser", firstMessage: "write a parser" },
    { ...INFO, id: "019aa-2", firstMessage: "mend the parser" },
    { ...INFO, id: "019bb-3", name: "parser tests" },
  ];
  const ids = (reference: string) => matchSessions(all, reference).map(({ id }) => id);
  expect(ids("019aa-2")).toEqual(["019aa-2"]);
  expect(ids("019aa")).toEqual(["019aa-1", "019aa-2"]);
  expect(ids("parser")).toEqual(["019aa-1"]);
  expect(ids("PARSER T")).toEqual(["019bb-3"]);
  expect(ids("pars")).toEqual(["019aa-1", "019aa-2", "019bb-3"]);
  expect(ids("nothing")).toEqual([]);
});

test("a session's line tells when, what, how long, and its id", () => {
  const line = sessionLine({ ...INFO, id: "019aa000-1111-7", messageCount: 4, name: "N".repeat(90) }, { folder: true });
  expect(line).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d {2}N{55}… {2}4 messages {2}\/project {2}\(019aa000-1111\)$/);
});

test("/resume lists the other sessions of the folder, and goes on with the one that is chosen", async () => {
  const { type, asked, told, said } = await talk();
  await type("/resume");
  expect(told()).toBe("There is no other session yet.");
  await type("about apples");
  await type("/name Apples");
  await type("/fork", "about apples");
  await type("about pears");
  await type("/name Pears");
  told();
  await type("/resume", "Apples");
  expect(asked.at(-1)).toEqual([
    "Go on with which session of this folder?",
    expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d {2}Apples {2}(?:\d+ messages {2})?\([0-9a-f-]{13}\)$/),
  ]);
  expect(told()).toBe("Going on with: Apples");
  expect(said().map(({ text }) => text)).toEqual(["about apples"]);
  await type("/resume pears");
  expect(said().map(({ text }) => text)).toEqual(["about pears"]);
  told();
  await type("/resume pears");
  expect(told()).toBe("That is this session.");
  await type("/resume");
  expect(told()).toBe("Nothing was chosen: this session goes on.");
  await type("/resume cherries");
  expect(told()).toMatch(/^error: There is no session "cherries"\.\n {2}try: \/resume alone/);
});

test("without a user interface /resume says in three parts what to type, and takes a name", async () => {
  const { type, told, said, agent } = await talk({ hasUI: false });
  await type("about apples");
  await type(`/fork ${said()[0]!.id}`);
  await type("about pears");
  await type(`/fork ${said()[0]!.id}`);
  await type("about plums");
  told();
  await type("/resume");
  expect(told()).toMatch(/^error: .+\n {2}why: in mode print .+\n {2}try: .+--session <id> or --continue/);
  await type("/resume about");
  expect(told()).toMatch(/^error: Several sessions are meant by "about": .+\n {2}try: Give the whole id\.$/);
  await type("/resume apples");
  expect(said().map(({ text }) => text)).toEqual(["about apples"]);
  expect(agent.transcript.leafId).not.toBeNull();
});

test("where the folder of a session is gone, a person may go on with a copy of it here; nobody else does", async () => {
  const one = await talk();
  const elsewhere = join(one.home, "elsewhere");
  await mkdir(elsewhere);
  const other = await talk({ project: { ...one, path: elsewhere } });
  await other.type("said elsewhere");
  const source = other.agent.service("sessions")!.current!.file!;
  await other.agent.dispose();
  await rename(elsewhere, `${elsewhere}-moved`);
  await one.type("here");
  one.told();
  await one.type(`/resume ${source}`, "Cancel");
  expect(one.asked.at(-1)![0]).toMatch(/was held in .+, which is no folder any more\.$/);
  expect(one.said().map(({ text }) => text)).toEqual(["here"]);
  await one.type(`/resume ${source}`, "Go on with a copy of it here");
  expect(one.said().map(({ text }) => text)).toEqual(["said elsewhere"]);
  const { header, file } = one.agent.service("sessions")!.current!;
  expect(header).toMatchObject({ cwd: one.path, parentSession: source });
  expect(readLines(file!)[0]).toMatchObject({ cwd: one.path });
  rmSync(`${elsewhere}-moved`, { recursive: true });
});

test("--resume lets a person choose; headless it fails and names --session and --continue", async () => {
  const one = await talk();
  await one.type("about apples");
  await one.agent.dispose();
  const two = await talk({ project: one, flags: new Map([["resume", true]]), answers: ["apples"] });
  expect(two.said().map(({ text }) => text)).toEqual(["about apples"]);
  await two.agent.dispose();
  const three = await talk({ project: one, flags: new Map([["resume", true]]) });
  expect(three.said()).toEqual([]);
  expect(three.told()).toContain("Nothing was chosen: this begins a new session.");
  await three.agent.dispose();
  const headless = talk({ project: one, flags: new Map([["resume", true]]), hasUI: false });
  await expect(headless).rejects.toMatchObject({
    code: "needs_person",
    hint: expect.stringMatching(/--session.+--continue/),
  });
});

test("--fork goes on with a copy of all branches; with another flag that names a session it fails", async () => {
  const one = await talk();
  await one.type("first");
  await one.type("second");
  await one.type(`/tree ${one.said()[1]!.id}`);
  await one.type("third");
  const source = one.agent.service("sessions")!.current!;
  const two = await talk({ project: one, flags: new Map([["fork", source.id]]) });
  expect(two.said().map(({ text }) => text)).toEqual(["first", "third"]);
  expect(two.agent.transcript.size).toBe(one.agent.transcript.size);
  expect(two.agent.service("sessions")!.current!.header).toMatchObject({ parentSession: source.file });
  for (const [flag, value] of Object.entries({ continue: true, session: "x", resume: true, "no-session": true })) {
    const flags = new Map<string, string | boolean>([
      ["fork", source.id],
      [flag, value],
    ]);
    await expect(talk({ project: one, flags })).rejects.toMatchObject({ code: "flag_conflict" });
  }
  const taken = new Map([
    ["fork", source.id],
    ["session-id", source.id],
  ]);
  await expect(talk({ project: one, flags: taken })).rejects.toMatchObject({ code: "flag_value" });
  const named = new Map([
    ["fork", source.file!],
    ["session-id", "my-own-id"],
  ]);
  const three = await talk({ project: one, flags: named });
  expect(three.agent.sessionId).toBe("my-own-id");
  const missing = new Map([["fork", "nope"]]);
  await expect(talk({ project: one, flags: missing })).rejects.toMatchObject({ code: "session_not_found" });
});
