import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { type Agent, createAgent, type Entry, headlessUi } from "@pi-agent/kernel";
import { type Script, scriptedProvider, tempProject } from "@pi-agent/testing";
import { expect, test } from "vitest";
import journal from "../src/index.ts";

function createJournaled(cwd: string, script: Script, flags = new Map([["journal", "journal.jsonl"]])) {
  const notices: string[] = [];
  const ui = { ...headlessUi, notify: (message: string) => void notices.push(message) };
  const agent = createAgent({ extensions: [journal, scriptedProvider(script)], host: { cwd, flags, ui } });
  return { agent, notices };
}

const linesOf = (path: string) => readFileSync(path, "utf8").trimEnd().split("\n");
const entriesOf = (path: string) => linesOf(path).map((line) => JSON.parse(line) as Entry);

async function prompt(agent: Agent, text: string) {
  await agent.input(text);
  await agent.settled();
}

test("every entry is a line, in order, and what was said is on disk before the model is asked", async () => {
  await using project = await tempProject();
  const path = `${project.path}/journal.jsonl`;
  const onDisk: string[] = [];
  const { agent, notices } = createJournaled(project.path, () => {
    onDisk.push(readFileSync(path, "utf8"));
    return { text: "Yes." };
  });
  await prompt(agent, "First?");
  await prompt(agent, "Second?");
  await agent.dispose();
  expect(onDisk[0]).toContain("First?");
  expect(onDisk[1]).toContain("Second?");
  expect(entriesOf(path)).toEqual(agent.transcript.path());
  expect(notices).toEqual([]);
});

test("a disk that takes nothing is told once, holds nothing up, and gets everything when it is back (F113)", async () => {
  await using project = await tempProject();
  const path = `${project.path}/journal.jsonl`;
  symlinkSync("/dev/full", path);
  const { agent, notices } = createJournaled(project.path, () => ({ text: "Yes." }));
  await prompt(agent, "First?");
  await prompt(agent, "Second?");
  expect(notices).toEqual([expect.stringContaining("ENOSPC")]);
  unlinkSync(path);
  writeFileSync(path, "");
  await prompt(agent, "Third?");
  await agent.dispose();
  expect(entriesOf(path)).toEqual(agent.transcript.path());
  expect(notices).toHaveLength(1);
});

test("what is lost for good is said at the end", async () => {
  await using project = await tempProject();
  symlinkSync("/dev/full", `${project.path}/journal.jsonl`);
  const { agent, notices } = createJournaled(project.path, [{ text: "Yes." }]);
  await prompt(agent, "First?");
  await agent.dispose();
  expect(notices).toEqual([expect.stringContaining("ENOSPC"), "The journal lacks its last entries."]);
});

const canMount = spawnSync("unshare", ["-m", "true"]).status === 0;

test("a disk that takes half a line gets the other half later, and no line twice (F113)", async ({ skip }) => {
  if (!canMount) skip("needs the right to mount");
  await using project = await tempProject({ files: { "disk/filler": "x" } });
  const disk = `${project.path}/disk`;
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=16k", "tmpfs", disk]);
  try {
    writeFileSync(`${disk}/filler`, "x".repeat(4_096));
    const flags = new Map([["journal", `${disk}/journal.jsonl`]]);
    const { agent, notices } = createJournaled(project.path, () => ({ text: "Yes." }), flags);
    for (const word of ["a", "b", "c"]) await prompt(agent, word.repeat(5_000));
    expect(() => entriesOf(`${disk}/journal.jsonl`)).toThrow(SyntaxError);
    expect(notices).toEqual([expect.stringContaining("ENOSPC")]);
    execFileSync("mount", ["-o", "remount,size=1m", disk]);
    rmSync(`${disk}/filler`);
    await prompt(agent, "d");
    await agent.dispose();
    expect(entriesOf(`${disk}/journal.jsonl`)).toEqual(agent.transcript.path());
  } finally {
    execFileSync("umount", [disk]);
  }
});

test("without --journal nothing is written", async () => {
  await using project = await tempProject();
  const { agent } = createJournaled(project.path, [{ text: "Yes." }], new Map());
  await prompt(agent, "First?");
  expect(await agent.dispose()).toEqual({ leaks: [] });
  await expect(project.read("journal.jsonl")).rejects.toThrow("ENOENT");
});
