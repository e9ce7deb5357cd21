import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentError, type AssistantMessage, type Extension } from "@pi-agent/kernel";
import { expect, onTestFinished, test, vi } from "vitest";
import { describeFault, reportFaults } from "../src/report-faults.ts";
import { createScriptedAgent } from "./scripted-agent.ts";

const CALLS: Partial<AssistantMessage> = {
  content: ["1", "2", "3"].map((id) => ({ type: "toolCall", id, name: "look", arguments: {} })),
  stopReason: "toolUse",
};

/** Runs an agent with an extension `mine` in a file; answers what standard error got. */
async function tellsOf(extension: Extension, { path = "/there/mine.ts", prompts = ["go"] } = {}): Promise<string> {
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  onTestFinished(() => written.mockRestore());
  const agent = createScriptedAgent([CALLS, "Done.", CALLS, "Done."], {
    extensions: [
      { owner: { name: "mine", scope: "user", path }, extension },
      (pi) => {
        const parameters = { type: "object", properties: {} } as never;
        pi.registerTool({ name: "look", description: "", parameters, execute: async () => ({ content: [] }) });
      },
    ],
  });
  await agent.ready();
  reportFaults(agent);
  for (const prompt of prompts) await agent.run(prompt);
  await agent.dispose();
  return written.mock.calls.map(([text]) => text).join("");
}

test("a fault is told with the hint that it carries", async () => {
  const text = await tellsOf(
    (pi) =>
      void pi.on("agent_start", () => {
        throw pi.error("mine", "It is too cold.", { hint: "Put the heating on." });
      }),
  );
  expect(text).toBe("warning: mine failed in agent_start\n  why: It is too cold.\n  try: Put the heating on.\n");
});

test("a fault without a hint is told with the first place in the extension's own file", async () => {
  const root = mkdtempSync(join(tmpdir(), "pi-faults-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const path = join(root, "mine.mjs");
  writeFileSync(path, 'export default (pi) => pi.on("agent_start", () => {\n  throw new Error("boom");\n});\n');
  const { default: extension } = await import(/* @vite-ignore */ path);
  const text = await tellsOf(extension, { path });
  expect(text).toContain(`warning: mine failed in agent_start\n  why: boom\n       at ${path}:2:`);
  expect(text).toContain("  try: mend it there\n");
});

test("the same fault of the same hook is told in full once a run, then counted", async () => {
  const fails: Extension = (pi) =>
    void pi.on("tool_execution_start", () => {
      throw new Error("boom");
    });
  const full = "warning: mine failed in tool_execution_start\n  why: boom\n  try: pi doctor lists what is loaded\n";
  const counted = "warning: mine failed in tool_execution_start, 2 more times in this run\n";
  expect(await tellsOf(fails, { prompts: ["go", "again"] })).toBe(`${full}${counted}${full}${counted}`);
});

const FAULT = { type: "extension_error", owner: "mine", extensionPath: "/there/mine.ts" } as const;
const NOT_KEPT = { error: undefined, isKept: false };

test("what was slow is not told as failed", () => {
  const error = new AgentError("hook_slow", "Its handler for turn_end took 40 ms.", { hint: "Keep what it found." });
  const fault = { ...FAULT, event: "turn_end", error: error.message, code: error.code };
  expect(describeFault(fault, { error, isKept: false })).toEqual({
    what: "mine is slow in turn_end",
    why: "Its handler for turn_end took 40 ms.",
    hint: "Keep what it found.",
  });
});

test("a new version that fails is told with the one that goes on", () => {
  const fault = { ...FAULT, event: "load", error: "boom", code: "extension_failed" };
  expect(describeFault(fault, { error: undefined, isKept: true })).toEqual({
    what: "The new version of mine failed to load; the version before goes on",
    why: "boom",
    hint: "mend it there and reload",
  });
});

test("what a reload left is told as it is, with nobody's name before it", () => {
  const fault = { ...FAULT, owner: "host", event: "reload", error: "There is more than before.", code: "reload_leak" };
  expect(describeFault(fault, NOT_KEPT).what).toBe("There is more than before.");
});
