import { type Script } from "@pi-agent/testing";
import { expect, test, vi } from "vitest";
import { messagesOf, openWorkbench, readSessions } from "./workbench.ts";

// Each test starts the command several times, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const REVIEWER = "---\ndescription: Reviews\ntools: Read, grep\n---\nYou review.\n";
const OURS = "---\ntools: []\nmodel: wire-anthropic/scripted\n---\nYou are the project's.\n";
const CALL = { calls: [{ name: "bash", arguments: { command: "echo ran > ran.txt" } }] };
/** Calls a tool first, whatever tools there are. */
const script: Script = ({ messages }) => (messages.at(-1)?.role === "tool" ? { text: "Done." } : CALL);

test("P14 F043 F044: --agent is in force from the first call on, and a session is held to it when it is gone on with", async () => {
  const files = { "agents/reviewer.md": REVIEWER };
  await using bench = await openWorkbench(script, { agentFiles: files, files: { "AGENTS.md": "Speak plainly." } });
  const first = await bench.ask("Go.", "--agent", "reviewer").done;
  expect(first).toEqual({ code: 0, signal: null, stdout: "Done.\n", stderr: "" });
  const again = await bench.ask("Go.", "-c").done;
  expect(again).toMatchObject({ code: 0, stdout: "Done.\n" });
  expect(again.stderr).toContain("The agent reviewer is in force. Its tools: read, grep.");
  expect(bench.server.requests).toHaveLength(4);
  for (const { neutral } of bench.server.requests) {
    expect(neutral?.tools.map(({ name }) => name).toSorted()).toEqual(["grep", "read"]);
    expect(neutral?.system).toMatch(/^You review\.\n\n[^]*Current working directory/);
  }
  const [session] = await readSessions(bench.agentDir);
  const results = messagesOf(session!).filter(({ role }) => role === "toolResult");
  expect(results).toMatchObject([{ isError: true }, { isError: true }]);
  await expect(bench.read("ran.txt")).rejects.toThrow("ENOENT");
  const off = await bench.ask("Go.", "-c", "--agent", "off").done;
  expect(off).toMatchObject({ code: 0, stdout: "Done.\n" });
  expect(await bench.read("ran.txt")).toBe("ran\n");
});

test("F044: a faulty agent, and one that is not there, end the start with exit 2 before any call", async () => {
  const agentFiles = {
    "agents/faulty.md": "---\nallowed-tools: [read]\ntools: [raed]\n---\n",
    "agents/reviewer.md": REVIEWER,
  };
  await using bench = await openWorkbench(script, { agentFiles });
  for (const [name, what, hint] of [
    ["faulty", /error: .*faulty\.md.*"allowed-tools".*"raed"/, /try: .*`tools`.*Did you mean read\?/],
    ["revewer", /error: There is no agent "revewer"/, /try: Did you mean reviewer\?/],
  ] as const) {
    const { code, stdout, stderr } = await bench.ask("Go.", "--agent", name).done;
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(what);
    expect(stderr).toMatch(hint);
  }
  expect(bench.server.requests).toEqual([]);
});

test("T1 P14: a project's agent is one once the project is trusted, and not before", async () => {
  await using bench = await openWorkbench(script, { files: { ".pi/agents/ours.md": OURS } });
  const before = await bench.pi(["-p", "Go.", "--agent", "ours"]).done;
  expect(before).toMatchObject({ code: 2, stdout: "" });
  expect(before.stderr).toMatch(/There is no agent "ours"[^]*trusted/);
  const after = await bench.pi(["-p", "Go.", "--agent", "ours", "--approve"]).done;
  expect(after).toMatchObject({ code: 0, stdout: "Done.\n" });
  expect(bench.server.requests[0]!.neutral).toMatchObject({ tools: [], system: expect.stringMatching(/^You are the/) });
  // Trusted for that one start only.
  const later = await bench.pi(["-p", "Go.", "-c"]).done;
  expect(later.stderr).toMatch(/The agent "ours" is not in force any more.*Its tools: none\./);
  expect(bench.server.requests.at(-1)!.neutral).toMatchObject({ tools: [] });
  expect(bench.server.requests.at(-1)!.neutral?.system).not.toContain("the project's");
});
