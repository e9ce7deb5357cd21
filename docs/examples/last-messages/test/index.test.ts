import { createAgent, type Message } from "@pi-agent/kernel";
import { scriptedProvider, type Turn } from "@pi-agent/testing";
import { Type } from "typebox";
import { expect, test } from "vitest";
import lastMessages from "../src/index.ts";

const LOOK = { name: "look", arguments: {} };
const ONE: Turn = { calls: [LOOK] };
const THREE: Turn = { calls: [LOOK, LOOK, LOOK] };

/** Runs a script with a tool that always works, and answers what the model was sent at each turn. */
async function sent(script: Turn[], options?: { messages?: number }) {
  const provider = scriptedProvider([...script, { text: "Done." }]);
  const agent = createAgent({
    extensions: [
      [lastMessages, options],
      provider,
      (pi) => {
        pi.registerTool({
          name: "look",
          description: "Looks.",
          parameters: Type.Object({}),
          execute: async () => ({ content: [{ type: "text", text: "Seen." }] }),
        });
      },
    ],
  });
  const { messages } = await agent.run("The task.");
  await agent.dispose();
  return { windows: provider.requests.map((request) => request.messages), messages };
}

/** What is wrong with a window: it must begin with the task, and each call must be followed by its result. */
function faults(window: readonly Message[]): string[] {
  const calls = new Set<string>();
  const faulty: string[] = window[0]?.role === "user" && window[0].content === "The task." ? [] : ["no task"];
  for (const message of window) {
    if (message.role === "toolResult" && !calls.delete(message.toolCallId)) faulty.push("a result without its call");
    if (message.role !== "assistant") continue;
    for (const block of message.content) if (block.type === "toolCall") calls.add(block.id);
  }
  return calls.size === 0 ? faulty : [...faulty, "a call without its result"];
}

const SCRIPTS: Record<string, Turn[]> = {
  "single calls": Array.from({ length: 12 }, () => ONE),
  "three calls at once": Array.from({ length: 12 }, () => THREE),
  "both in turn": Array.from({ length: 12 }, (_, turn) => (turn % 2 ? ONE : THREE)),
};

test.for(Object.keys(SCRIPTS).flatMap((name) => [2, 3, 4, 5, 6, 7].map((most) => [name, most] as const)))(
  "%s, the last %i: every window has the task, whole pairs and the newest messages (F100)",
  async ([name, most]) => {
    const { windows, messages } = await sent(SCRIPTS[name]!, { messages: most });
    expect(windows.flatMap(faults)).toEqual([]);
    for (const window of windows) {
      // The task, and at most one answer with its results more than asked for.
      expect(window.length).toBeLessThanOrEqual(1 + most + 3);
    }
    const last = windows.at(-1)!;
    expect(last.slice(-most)).toEqual(messages.slice(0, -1).slice(-most));
  },
);

test("the transcript keeps everything", async () => {
  const { messages } = await sent(SCRIPTS["three calls at once"]!, { messages: 2 });
  expect(messages).toHaveLength(1 + 12 * 4 + 1);
});

test("a short conversation is sent as it is", async () => {
  const { windows } = await sent([ONE]);
  expect(windows.map((window) => window.length)).toEqual([1, 3]);
});

test("a window that cannot be is refused when it is configured", async () => {
  const agent = createAgent({ extensions: [[lastMessages, { messages: 0 }]] });
  await agent.ready();
  expect(agent.extensions[0]).toMatchObject({ state: "failed", error: { code: "invalid_options" } });
  await agent.dispose();
});
