import type { AgentEvent, Message } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { createOwnModes } from "../src/own-modes.ts";
import type { Output } from "../src/stdout-guard.ts";

const run = { runId: "r", turnIndex: 0 };
const answer = (text: string) => ({ role: "assistant", content: [{ type: "text", text }], stopReason: "stop" });
const PAST = [
  { type: "message_end", ...run, message: { role: "user", content: "Look." } },
  { type: "tool_execution_start", ...run, toolCallId: "1", toolName: "read", args: { path: "a.txt" } },
  { type: "message_end", ...run, message: { role: "toolResult", content: [{ type: "text", text: "raw" }] } },
  { type: "message_end", ...run, message: answer("Seen \u001b[2Jall.") as unknown as Message },
] as unknown as AgentEvent[];

async function* past(): AsyncGenerator<AgentEvent> {
  yield* PAST;
}

async function replayed(name: string): Promise<string> {
  let written = "";
  const output = { write: (text: string) => void (written += text), ready: () => undefined } as unknown as Output;
  const mode = createOwnModes(output, async () => 0).find((each) => each.name === name);
  await mode?.replay?.(past());
  return written;
}

test("the mode text replays what was said and a line for each step, and nothing in it draws on the terminal", async () => {
  const lines = (await replayed("text")).trimEnd().split("\n");
  expect(lines).toEqual(["> Look.", "• read a.txt", "Seen \ufffd[2Jall."]);
});

test("the mode json replays each event on a line", async () => {
  const lines = (await replayed("json")).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).type)).toEqual(PAST.map(({ type }) => type));
});
