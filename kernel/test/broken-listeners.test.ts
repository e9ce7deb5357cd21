import { expect, test } from "vitest";
import { createAgent, type HookName, type Message } from "../src/index.ts";
import { faultsOf, handles, prompt } from "./named.ts";
import { assistant, calls, failure, outline, record, scripted, type Turn, tool } from "./scripted.ts";

const EVERY: HookName[] = [
  "agent_start",
  "turn_start",
  "message_start",
  "message_update",
  "message_end",
  "tool_execution_start",
  "tool_execution_update",
  "tool_execution_end",
  "turn_end",
  "agent_end",
  "agent_settled",
  "transcript_append",
  "transcript_flush",
  "before_agent_start",
  "before_turn",
  "context",
  "tool_result",
  "agent_before_settle",
  "model_select",
  "queue_update",
  "extension_error",
  "fault",
  "input",
  "provider_error",
  "auto_retry_start",
  "auto_retry_end",
];
const streamed: Turn = async function* () {
  const message = assistant([{ type: "text", text: "x" }], { stopReason: "pending" });
  yield [
    { type: "start", partial: message },
    { type: "text_start", contentIndex: 0 },
  ];
  yield [
    { type: "text_end", contentIndex: 0, content: "x" },
    { type: "done", reason: "stop", message: { ...message, stopReason: "stop" } },
  ];
};

test.each(EVERY.flatMap((hook) => [[hook, "throws"] as const, [hook, "rejects"] as const]))(
  "F139 F011 K13: a listener of %s that %s is told, and the others hear on, the run settles, the next prompt works",
  async (hook, how) => {
    const provider = scripted(failure("server"), calls(["1", "a"]), streamed);
    const bad = handles("bad", hook, () => {
      if (how === "rejects") return Promise.reject(new Error("no"));
      throw new Error("no");
    });
    let heard = 0;
    const other = handles("other", hook, () => void heard++);
    let isFirst = true;
    const retry = handles("retry", "provider_error", () => {
      if (!isFirst) return undefined;
      isFirst = false;
      return { retry: { delayMs: 0, reason: "busy" } };
    });
    const update = tool("a", (_args, _signal, _ctx, onUpdate) => (onUpdate({ content: [] }), agent.steer("s"), "ok"));
    const told: string[] = [];
    const ui = { notify: (message: string) => void told.push(message) };
    const agent = createAgent({ extensions: [bad, other, provider, update, retry], host: { ui: ui as never } });
    const faults = faultsOf(agent);
    const events = record(agent);
    await prompt(agent);
    expect(outline(events).filter((type) => type === "agent_settled")).toHaveLength(1);
    expect(outline(events).filter((type) => type === "agent_end")).toHaveLength(1);
    const isHeardOf = hook === "model_select" || hook === "extension_error" || hook === "fault";
    if (!isHeardOf) {
      expect(faults[0]).toMatch(new RegExp(`^bad ${hook} `));
      expect(heard).toBeGreaterThan(0);
    }
    await prompt(agent, "again");
    expect(agent.transcript.project().at(-1)).toMatchObject({ role: "assistant", content: [{ text: "done" }] });
  },
);

test("F139: a listener of extension_error that fails does not call itself for ever", async () => {
  const told: string[] = [];
  const ui = { notify: (message: string) => void told.push(message) } as never;
  const bad = (hook: HookName) =>
    handles(`bad ${hook}`, hook, () => {
      throw new Error("no");
    });
  const agent = createAgent({
    extensions: [scripted(), bad("extension_error"), bad("fault"), bad("turn_start")],
    host: { ui },
  });
  await prompt(agent);
  expect(told.length).toBeGreaterThan(0);
  expect(told.length).toBeLessThan(10);
});

test("F139: a store whose flush rejects once is reported, and the turn goes on", async () => {
  let isFirst = true;
  const store = handles("store", "transcript_flush", async () => {
    if (!isFirst) return;
    isFirst = false;
    throw new Error("disk full");
  });
  const agent = createAgent({ extensions: [scripted(), store] });
  const faults = faultsOf(agent);
  expect((await agent.run("go")).answer).toBe("done");
  expect(faults).toEqual(["store transcript_flush extension_failed"]);
});

test("K10 F139: a listener that prompts inside every event gets each prompt answered once, and the agent settles", async () => {
  const provider = scripted(calls(["1", "a"]));
  const agent = createAgent({ extensions: [provider, tool("a")] });
  const asked: string[] = [];
  const waiting: Promise<unknown>[] = [];
  agent.onWire(({ type }) => {
    if (asked.some((each) => each.startsWith(type))) return;
    const said = `${type} ${asked.length}`;
    asked.push(said);
    waiting.push(agent.input(said));
  });
  await prompt(agent);
  await Promise.all(waiting);
  await agent.settled();
  const users = agent.transcript.project().filter(({ role }) => role === "user") as Message[];
  expect(users).toHaveLength(asked.length + 1);
  expect(new Set(users.map(({ content }) => content))).toEqual(new Set(["go", ...asked]));
  expect(asked.length).toBeGreaterThan(8);
  expect(agent.state.activity).toBe("idle");
});
