import { expect, test } from "vitest";
import {
  createAgent,
  type ExtensionAPI,
  type HookEvent,
  type HookName,
  type Message,
  type Undo,
} from "../src/index.ts";
import { faultsOf, handles, named, prompt } from "./named.ts";
import { calls, failure, outline, record, resultTexts, scripted, text, tool } from "./scripted.ts";

/** An entry for the model to answer, without which a run cannot go on from its last word. */
const NUDGE = { type: "custom_message", customType: "nudge", content: "go on", display: false };

test("K1: a tool that is replaced during a turn is not used before the next", async () => {
  const provider = scripted(calls(["1", "swap"], ["2", "b"]), calls(["3", "b"]));
  const own = (pi: ExtensionAPI) => {
    tool("b", () => "old")(pi);
    tool("swap", () => (tool("b", () => "new")(pi), "ok"), { executionMode: "sequential" })(pi);
  };
  const agent = createAgent({ extensions: [provider, own] });
  await agent.run("go");
  expect(resultTexts(agent)).toEqual({ 1: "ok", 2: "old", 3: "new" });
});

test("K1: a tool that is taken back or switched off during a turn still answers in that turn", async () => {
  const provider = scripted(calls(["1", "drop"], ["2", "b"], ["3", "c"]), calls(["4", "b"], ["5", "c"]));
  const own = (pi: ExtensionAPI) => {
    const undo: Undo = pi.registerTool({
      name: "b",
      description: "b",
      parameters: { type: "object" } as never,
      execute: async () => ({ content: [{ type: "text", text: "b" }] }),
    });
    tool("c", () => "c")(pi);
    tool("drop", () => (void undo(), pi.setActiveTools(["drop"]), "ok"), { executionMode: "sequential" })(pi);
  };
  const agent = createAgent({ extensions: [provider, own] });
  await agent.run("go");
  expect(resultTexts(agent)).toMatchObject({ 1: "ok", 2: "b", 3: "c" });
  expect(resultTexts(agent)["4"]).toContain("no tool b");
  expect(resultTexts(agent)["5"]).toContain("no tool c");
});

test("K1: a tool that is registered while the answer streams cannot be called by that answer, and is not listed for it", async () => {
  const provider = scripted(calls(["1", "late"]), calls(["2", "late"]));
  const own = (pi: ExtensionAPI) => {
    tool("early")(pi);
    let isThere = false;
    pi.on("message_start", ({ message }) => {
      if (isThere || message.role !== "assistant") return;
      isThere = true;
      tool("late", () => "late")(pi);
    });
  };
  const agent = createAgent({ extensions: [provider, own] });
  await agent.run("go");
  expect(resultTexts(agent)).toEqual({ 1: "There is no tool late. The tools are: early.", 2: "late" });
});

test("K2: every event of a run carries its id, and inside a turn the turn's number", async () => {
  const agent = createAgent({ extensions: [scripted(calls(["1", "a"]), failure("server")), tool("a")] });
  const events = record(agent) as { type: string; runId?: string; turnIndex?: number }[];
  await prompt(agent);
  await prompt(agent, "again");
  const runs = Object.groupBy(
    events.filter(({ type }) => type !== "queue_update"),
    ({ runId }) => String(runId),
  );
  expect(Object.keys(runs)).toHaveLength(2);
  for (const [id, list = []] of Object.entries(runs)) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/);
    let turn = -1;
    for (const { type, turnIndex } of list) {
      if (type === "turn_start") turn++;
      if (!type.startsWith("agent_")) expect(turnIndex, type).toBe(turn);
    }
  }
});

test("K2: what agent_before_settle continues is another start and end before the one settled", async () => {
  let left = 2;
  const goOn = handles("goOn", "agent_before_settle", () => (left-- > 0 ? { entries: [NUDGE], continue: true } : {}));
  const agent = createAgent({ extensions: [scripted(), goOn] });
  const events = record(agent);
  await agent.run("go");
  expect(outline(events).filter((type) => type.startsWith("agent_"))).toEqual([
    "agent_start",
    "agent_end",
    "agent_start",
    "agent_end",
    "agent_start",
    "agent_end",
    "agent_settled",
  ]);
});

test("K2: a retried failure is a turn of its own, and the retry's events stand between the turns", async () => {
  const provider = scripted(failure("server"), failure("server"), text("fine"));
  const retry = handles("retry", "provider_error", () => ({ retry: { delayMs: 0, reason: "busy" } }));
  const agent = createAgent({ extensions: [provider, retry] });
  const events = record(agent) as { type: string; attempt?: number; turnIndex?: number }[];
  expect((await agent.run("go")).answer).toBe("fine");
  expect(events.filter(({ type }) => type === "auto_retry_start").map(({ attempt }) => attempt)).toEqual([1, 2]);
  expect(events.filter(({ type }) => type === "turn_end").map(({ turnIndex }) => turnIndex)).toEqual([0, 1, 2]);
  expect(provider.requests.map(({ messages }) => messages.length)).toEqual([1, 1, 1]);
});

test("K2: attempts are counted in a row: an answer in between begins anew", async () => {
  const attempts: number[] = [];
  const retry = handles("retry", "provider_error", ({ attempt }: HookEvent<"provider_error">) => {
    attempts.push(attempt);
    return { retry: { delayMs: 0, reason: "busy" } };
  });
  const provider = scripted(failure("server"), failure("server"), calls(["1", "a"]), failure("server"));
  await createAgent({ extensions: [provider, tool("a"), retry] }).run("go");
  expect(attempts).toEqual([1, 2, 1]);
});

test("a chain of tool_result handlers: each sees what the one before made of the result", async () => {
  const seen: unknown[] = [];
  const first = handles("first", "tool_result", () => ({
    content: [{ type: "text", text: "one" }],
    isError: true,
    details: { n: 1 },
  }));
  const second = handles("second", "tool_result", ({ content, isError, details }: HookEvent<"tool_result">) => {
    seen.push([content, isError, details]);
  });
  await createAgent({ extensions: [scripted(calls(["1", "a"])), tool("a"), first, second] }).run("go");
  expect(seen).toEqual([[[{ type: "text", text: "one" }], true, { n: 1 }]]);
});

test("F100 F101 K7: a context handler that cuts a call from its results, or a result from its call, leaves a valid request", async () => {
  const cuts: ((messages: Message[]) => Message[])[] = [
    (messages) => messages.filter(({ role }) => role !== "assistant"),
    (messages) => messages.filter(({ role }) => role !== "toolResult"),
    (messages) => messages.slice(-1),
    (messages) => messages.toReversed(),
    (messages) => [...messages, ...messages.filter(({ role }) => role === "toolResult")],
  ];
  for (const cut of cuts) {
    const provider = scripted(calls(["1", "a"], ["2", "a"]));
    const window = handles("window", "context", ({ messages }: HookEvent<"context">) => ({ messages: cut(messages) }));
    await createAgent({ extensions: [provider, tool("a"), window] }).run("go");
    const open: string[] = [];
    for (const message of provider.requests[1]!.messages) {
      if (message.role === "toolResult")
        expect(open.splice(open.indexOf(message.toolCallId) >>> 0, 1)).toEqual([message.toolCallId]);
      else expect(open).toEqual([]);
      if (message.role === "assistant")
        for (const block of message.content) if (block.type === "toolCall") open.push(block.id);
    }
    expect(open).toEqual([]);
  }
});

test("K6: every call of a cut answer gets its own result, and no gate is asked", async () => {
  let gates = 0;
  const cut = { ...calls(["1", "a"], ["2", "a"], ["3", "ghost"]), stopReason: "length" as const };
  const agent = createAgent({
    extensions: [scripted(cut), tool("a"), handles("g", "tool_call", () => void gates++)],
  });
  const events = record(agent);
  await agent.run("go");
  expect(Object.keys(resultTexts(agent))).toEqual(["1", "2", "3"]);
  for (const said of Object.values(resultTexts(agent))) expect(said).toMatch(/complete/);
  expect(gates).toBe(0);
  expect(outline(events).filter((type) => type.startsWith("tool_execution_end"))).toHaveLength(3);
});

test("K6: an answer that was cut without calls ends the run", async () => {
  const provider = scripted({ ...text("cut"), stopReason: "length" });
  expect((await createAgent({ extensions: [provider] }).run("go")).outcome).toBe("done");
  expect(provider.requests).toHaveLength(1);
});

const HOOKS_IN_ORDER: HookName[] = [
  ...(["before_agent_start", "agent_start", "turn_start", "message_start", "message_end", "before_turn"] as const),
  ...(["transcript_flush", "context", "message_start", "message_end", "turn_end", "agent_end"] as const),
  ...(["agent_before_settle", "transcript_flush", "agent_settled"] as const),
];

test("K2: the hooks of a turn without tools come in the documented order", async () => {
  const heard: string[] = [];
  const listening = named("l", (pi) => {
    for (const hook of new Set(HOOKS_IN_ORDER))
      pi.on(hook, (({ type }: { type: string }) => void heard.push(type)) as never);
  });
  await createAgent({ extensions: [scripted(), listening] }).run("go");
  expect(heard).toEqual(HOOKS_IN_ORDER);
});

test("reference 4.7: blocked and unknown calls skip tool_result, unknown and invalid ones skip tool_call, all have an end", async () => {
  const heard: string[] = [];
  const hear = ({ type, toolCallId }: { type: string; toolCallId: string }) => void heard.push(`${type} ${toolCallId}`);
  const listening = named("l", (pi) => {
    pi.on("tool_call", (event) => {
      hear(event);
      return event.toolCallId === "2" ? { block: true } : undefined;
    });
    pi.on("tool_result", hear as never);
    pi.on("tool_execution_end", hear);
  });
  const parameters = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as never;
  const list = calls(["1", "ghost"], ["2", "a", { n: 1 }], ["3", "a", { n: "x" }], ["4", "a", { n: 1 }]);
  const agent = createAgent({ extensions: [scripted(list), tool("a", undefined, { parameters }), listening] });
  const faults = faultsOf(agent);
  await agent.run("go");
  expect(heard.filter((each) => !each.startsWith("tool_execution_end"))).toEqual([
    "tool_call 2",
    "tool_call 4",
    "tool_result 4",
  ]);
  expect(heard.filter((each) => each.startsWith("tool_execution_end"))).toHaveLength(4);
  expect(faults).toEqual([]);
});
