import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { thisHolder } from "../src/holder.ts";
import { BEAT_MS } from "../src/lease.ts";
import { listSessions } from "../src/list.ts";
import { findPlace } from "../src/location.ts";
import { readSession } from "../src/read.ts";
import { startDuet } from "./duet.ts";
import { header, lines, message, prompt, startAgent, tempFolder } from "./support.ts";

let cwd: string;
let file: string;

beforeEach(() => {
  cwd = tempFolder();
  file = join(cwd, "s.jsonl");
  writeFileSync(file, lines(header({ cwd }), message("a", null)));
});

const textsIn = (path: string) => JSON.stringify(readSession(path)!.entries);
const leases = () => readdirSync(cwd).filter((name) => name.endsWith(".lease"));

describe("S3 F106 a session that another process writes to", () => {
  test("without anybody to ask, the start fails and says who has it and how to go on with a copy", async () => {
    const other = await startDuet(file, cwd);
    expect(other.greeting).toBe("ready");
    const { agent } = await startAgent({ cwd });
    const faults: { code: string; message: string; hint?: string }[] = [];
    agent.on("fault", ({ error }) => void faults.push(error));
    const flags = new Map([["session", file]]);
    expect(await agent.dispatch("session_select", { flags })).toBeUndefined();
    expect(faults).toMatchObject([{ code: "session_in_use", hint: expect.stringContaining(`--fork ${file}`) }]);
    expect(faults[0]!.message).toContain(`process ${other.pid} on ${hostname()}`);
    expect(faults[0]!.message).toMatch(/since \d{4}-/);
    await other.end();
    expect(await agent.dispatch("session_select", { flags })).toMatchObject({ id: "s-1" });
  });

  test("a holder that was killed blocks nobody", async () => {
    const other = await startDuet(file, cwd);
    await other.type("theirs");
    await other.kill();
    expect(leases()).toEqual(["s-1.lease"]);
    const { agent, begin } = await startAgent({ cwd, flags: { session: file } });
    await begin();
    await prompt(agent, "mine");
    expect(textsIn(file)).toContain("theirs");
    expect(textsIn(file)).toContain("mine");
    await agent.dispose();
    expect(leases()).toEqual([]);
  });

  test("a lease is no session in a list, and Pi looks for .jsonl only", async () => {
    await startDuet(file, cwd);
    expect(leases()).toHaveLength(1);
    expect(listSessions(findPlace(cwd, cwd), cwd).map(({ path }) => path)).toEqual([file]);
  });

  const asking = (answer: string | undefined) => {
    const asked: string[][] = [];
    const ui = {
      notify: () => {},
      select: async (title: string, options: string[]) => {
        asked.push([title, ...options]);
        return options.find((option) => option.startsWith(answer ?? "nothing"));
      },
    };
    return { asked, host: { hasUI: true, ui: ui as never } };
  };

  test("a person may go on with a copy", async () => {
    const other = await startDuet(file, cwd);
    const { asked, host } = asking("Go on with a copy");
    const { agent, begin } = await startAgent({ cwd, flags: { session: file, "session-dir": cwd }, host });
    await begin();
    expect(asked).toHaveLength(1);
    expect(asked[0]![0]).toContain(`process ${other.pid}`);
    await prompt(agent, "in the copy");
    const { current } = agent.service("sessions")!;
    expect(current).toMatchObject({ id: agent.sessionId, header: { parentSession: file, cwd } });
    expect(current!.file).not.toBe(file);
    expect(textsIn(current!.file!)).toContain("in the copy");
    expect(textsIn(file)).not.toContain("in the copy");
    expect(await other.type("go on")).toBe("done");
  });

  test("a person may only read it: nothing that is said is kept", async () => {
    await startDuet(file, cwd);
    const before = readFileSync(file, "utf8");
    const { agent, begin } = await startAgent({ cwd, flags: { session: file }, host: asking("Only read").host });
    await begin();
    expect(agent.transcript.path().map(({ id }) => id)).toContain("a");
    await prompt(agent, "nobody will know");
    await agent.dispose();
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(readdirSync(cwd).sort()).toEqual(["s-1.lease", "s.jsonl"]);
  });

  test.each(["Cancel", undefined])("a person may leave it: %s", async (answer) => {
    await startDuet(file, cwd);
    const { agent } = await startAgent({ cwd, host: asking(answer).host });
    const codes: string[] = [];
    agent.on("fault", ({ error }) => void codes.push(error.code));
    expect(await agent.dispatch("session_select", { flags: new Map([["session", file]]) })).toBeUndefined();
    expect(codes).toEqual(["session_in_use"]);
  });

  test("switching to it fails before anything is left", async () => {
    await startDuet(file, cwd);
    const { agent, begin } = await startAgent({ cwd, flags: { "session-dir": join(cwd, "mine") } });
    await begin();
    await prompt(agent, "hello");
    const sessions = agent.service("sessions")!;
    const { id } = sessions.current!;
    await expect(sessions.open(file)).rejects.toMatchObject({ code: "session_in_use" });
    expect(sessions.current!.id).toBe(id);
    expect((await sessions.read(file)).entries).toHaveLength(1);
    await expect(sessions.remove("s-1")).rejects.toMatchObject({ code: "session_in_use" });
  });
});

test("S3 a session is claimed with its first message, and given back when it is left", async () => {
  const folder = join(cwd, "sessions");
  const { agent, begin } = await startAgent({ cwd, flags: { "session-dir": folder } });
  await begin();
  const { id } = agent.service("sessions")!.current!;
  await prompt(agent, "hello");
  const leased = () => readdirSync(folder).filter((name) => name.endsWith(".lease"));
  expect(leased()).toEqual([`${id}.lease`]);
  agent.open(await agent.service("sessions")!.create({ cwd }));
  await agent.dispatch("session_start", { reason: "new" });
  await expect.poll(leased).toEqual([]);
});

test("S3 a lease of a file that another machine took over is told once", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { agent, begin, notices } = await startAgent({ cwd, flags: { session: file } });
  await begin();
  const { current } = agent.service("sessions")!;
  expect(current!.isClaimed).toBe(true);
  const theirs = { ...thisHolder(), host: "elsewhere", pid: 4242 };
  writeFileSync(join(cwd, "s-1.lease"), JSON.stringify(theirs));
  vi.advanceTimersByTime(BEAT_MS);
  expect(current!.isClaimed).toBe(false);
  await prompt(agent, "one");
  await prompt(agent, "two");
  expect(notices).toMatchObject([
    { level: "warning", text: expect.stringContaining("Process 4242 on elsewhere took over the session, s-1") },
  ]);
  await agent.dispose();
  expect(JSON.parse(readFileSync(join(cwd, "s-1.lease"), "utf8"))).toEqual(theirs);
});

test("S3 a session that was opened and left for another is free, and can be deleted", async () => {
  const { agent, begin } = await startAgent({ cwd, flags: { "session-dir": cwd } });
  await begin();
  const sessions = agent.service("sessions")!;
  await sessions.open(file);
  expect(leases()).toEqual(["s-1.lease"]);
  await agent.dispatch("session_start", { reason: "resume" });
  await expect.poll(leases).toEqual([]);
  await sessions.open(file);
  expect(await sessions.remove("s-1")).toBe(true);
});

test("F106 two processes turn about, 20 prompts of 5 kB each, a name last, one killed: nothing is torn or lost", async () => {
  // Both begin it: neither finds the other's lease.
  const fresh = join(cwd, "fresh.jsonl");
  const [one, other] = await Promise.all([startDuet(fresh, cwd), startDuet(fresh, cwd)]);
  const said: string[] = [];
  for (let turn = 0; turn < 20; turn++) {
    for (const [name, side] of Object.entries({ one, other })) {
      said.push(`${name} ${turn} `);
      expect(await side.type(`${name} ${turn} ${"x".repeat(5_000)}`)).toBe("done");
    }
  }
  await other.type("name Written last");
  await one.kill();
  await other.end();
  const { entries, problems } = readSession(fresh)!;
  expect(problems).toEqual([]);
  const all = JSON.stringify(entries);
  expect(said.filter((text) => !all.includes(text))).toEqual([]);
  const { agent, begin } = await startAgent({ cwd, flags: { session: fresh } });
  await begin();
  // The name is no place in the conversation: what came before it is.
  expect(agent.transcript.get(agent.transcript.leafId!)).toMatchObject({ message: { role: "assistant" } });
  expect(agent.service("sessions")!.current!.name).toBe("Written last");
}, 60_000);
