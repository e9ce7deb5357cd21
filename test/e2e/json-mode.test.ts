import { assertEventOrder, type Script } from "@pi-agent/testing";
import { expect, test } from "vitest";
import { openWorkbench, parseLines } from "./workbench.ts";

const NOISY = `
import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";

function shout(where) {
  console.log("NOISE log", where);
  process.stdout.write("NOISE write " + where + "\\n");
  fs.writeSync(1, "NOISE sync " + where + "\\n");
  spawnSync("echo", ["NOISE child", where], { stdio: "inherit" });
  execFileSync("sh", ["-c", "echo NOISE shell >&1"], { stdio: ["ignore", 1, 2] });
}

shout("import");
export default function (pi) {
  shout("factory");
  for (const name of ["agent_start", "turn_start", "message_end", "tool_call", "agent_settled"]) {
    pi.on(name, () => shout(name));
  }
  pi.on("session_shutdown", () => shout("shutdown"));
}
`;

const SCRIPT: Script = [
  {
    thinking: "Both.",
    text: "Reading\u2028both.",
    calls: [
      { name: "read", arguments: { path: "a.txt" } },
      { name: "bash", arguments: { command: "echo one; echo two" } },
    ],
  },
  { calls: [{ name: "edit", arguments: { path: "a.txt", edits: [{ oldText: "alpha", newText: "beta" }] } }] },
  { text: "Done.\u2029" },
];

test("JSON mode writes one object per line in the order of K2, whatever an extension prints", async () => {
  await using bench = await openWorkbench(SCRIPT, {
    files: { "a.txt": "alpha\n" },
    agentFiles: { "extensions/noisy.ts": NOISY },
  });
  const { code, stdout, stderr } = await bench.ask("Go.", "--mode", "json").done;
  expect(code).toBe(0);
  const [header, ...events] = parseLines(stdout);
  expect(header).toMatchObject({ type: "session", version: 3, cwd: bench.path, id: expect.any(String) });
  assertEventOrder(events);
  expect(events.at(-1)?.type).toBe("agent_settled");
  expect(stdout).not.toContain("NOISE");
  expect(stdout).toContain("Reading\u2028both.");
  for (const kind of ["log", "write", "sync", "child", "shell"]) expect(stderr).toContain(`NOISE ${kind}`);
});

test("JSON mode leaves the message so far out of updates, and gives the usage", async () => {
  await using bench = await openWorkbench([{ text: "a text in several pieces" }]);
  const { stdout } = await bench.ask("Go.", "--mode", "json").done;
  const updates = parseLines(stdout).filter((line) => line.type === "message_update");
  expect(updates.length).toBeGreaterThan(2);
  for (const update of updates) {
    expect(update).toMatchObject({ usage: expect.any(Object), assistantMessageEvent: expect.any(Object) });
    expect(update).not.toHaveProperty("message");
    expect(update).not.toHaveProperty("assistantMessageEvent.partial");
  }
});

test("JSON mode keeps the order of K2 when the provider fails", async () => {
  await using bench = await openWorkbench([{ text: "half of the words", fail: "error-event" }]);
  const { code, stdout } = await bench.ask("Go.", "--mode", "json").done;
  expect(code).toBe(1);
  const [, ...events] = parseLines(stdout);
  assertEventOrder(events);
});

test("print mode writes the answer and nothing else, whatever an extension prints", async () => {
  await using bench = await openWorkbench(SCRIPT, {
    files: { "a.txt": "alpha\n" },
    agentFiles: { "extensions/noisy.ts": NOISY },
  });
  const { code, stdout } = await bench.ask("Go.").done;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\u2029\n" });
});

test("a slow reader gets every line", async () => {
  await using bench = await openWorkbench([{ text: "word ".repeat(40_000), deltas: 4_000 }]);
  const run = bench.pi(["-p", "Go.", "--mode", "json", "--model", "wire-chat/scripted"], {
    via: ["sh", "-c", '"$@" | (sleep 1; cat)', "sh"],
  });
  const { code, stdout } = await run.done;
  expect(code).toBe(0);
  const [, ...events] = parseLines(stdout);
  assertEventOrder(events);
  const text = events.map((event) => event.assistantMessageEvent as { type?: string; delta?: string } | undefined);
  expect(
    text
      .filter((each) => each?.type === "text_delta")
      .map((each) => each?.delta)
      .join(""),
  ).toBe("word ".repeat(40_000));
});

test("JSON mode forwards a new session name, and neither questions nor what handlers propose", async () => {
  const source = `export default (pi) => {
    pi.on("turn_start", async (_event, ctx) => { pi.setSessionName("the name"); await ctx.ui.confirm("Sure?", "Really?"); });
    pi.on("turn_end", () => ({ entries: [{ type: "custom", customType: "mine", data: 1 }] }));
  };`;
  await using bench = await openWorkbench([{ text: "Done." }], { agentFiles: { "extensions/names.ts": source } });
  const { code, stdout } = await bench.ask("Go.", "--mode", "json").done;
  expect(code).toBe(0);
  const [, ...events] = parseLines(stdout);
  assertEventOrder(events);
  expect(events.filter(({ type }) => type === "session_info_changed")).toEqual([
    { type: "session_info_changed", name: "the name" },
  ]);
  expect(events.filter(({ type }) => type.startsWith("ui_prompt"))).toEqual([]);
  const turnEnd = events.find(({ type }) => type === "turn_end");
  expect(turnEnd).toMatchObject({ message: { role: "assistant" }, toolResults: [] });
  for (const field of ["context", "entries", "continue"]) expect(turnEnd).not.toHaveProperty(field);
});
