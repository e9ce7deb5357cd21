import { expect, test } from "vitest";
import { createAgent, type ExtensionAPI, type StreamEvent } from "../src/index.ts";
import {
  assistant,
  calls,
  failure,
  gate,
  outline,
  record,
  resultTexts,
  scripted,
  text,
  tool,
  whole,
} from "./scripted.ts";

test("K1: a tool that is registered during a turn is offered from the next turn on", async () => {
  const provider = scripted(calls(["1", "add"]));
  const adder = (pi: ExtensionAPI) => tool("add", () => (tool("late")(pi), "ok"))(pi);
  await createAgent({ extensions: [provider, adder] }).run("go");
  expect(provider.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([["add"], ["add", "late"]]);
});

test("K2: the events of a run with parallel tools come in the documented order", async () => {
  const slow = gate();
  const provider = scripted(calls(["1", "slow"], ["2", "quick"]));
  const agent = createAgent({
    extensions: [provider, tool("slow", () => slow.promise.then(() => "s")), tool("quick", () => (slow.open(), "q"))],
  });
  const events = record(agent);
  await agent.run("go");
  expect(outline(events)).toEqual([
    "agent_start",
    "turn_start",
    "message_start user",
    "message_end user",
    "message_start assistant",
    "message_end assistant",
    "tool_execution_start 1",
    "tool_execution_start 2",
    "tool_execution_end 2",
    "tool_execution_end 1",
    "message_start toolResult",
    "message_end toolResult",
    "message_start toolResult",
    "message_end toolResult",
    "turn_end",
    "turn_start",
    "message_start assistant",
    "message_end assistant",
    "turn_end",
    "agent_end",
    "agent_settled",
  ]);
  expect(new Set(events.map((event) => (event as { runId?: string }).runId)).size).toBe(1);
  expect(
    events.filter(({ type }) => type === "turn_start").map((event) => (event as { turnIndex?: number }).turnIndex),
  ).toEqual([0, 1]);
});

test("K2: sequential tools finish one by one, each with its result message", async () => {
  const provider = scripted(calls(["1", "a"], ["2", "b"]));
  const agent = createAgent({
    extensions: [provider, tool("a", undefined, { executionMode: "sequential" }), tool("b")],
  });
  const events = record(agent);
  await agent.run("go");
  expect(outline(events).slice(6, 14)).toEqual([
    "tool_execution_start 1",
    "tool_execution_end 1",
    "message_start toolResult",
    "message_end toolResult",
    "tool_execution_start 2",
    "tool_execution_end 2",
    "message_start toolResult",
    "message_end toolResult",
  ]);
});

test("K2: a failed answer has its events too, and ends the run with the outcome error", async () => {
  const agent = createAgent({ extensions: [scripted(failure("server"))] });
  const events = record(agent);
  const { outcome } = await agent.run("go");
  expect(outcome).toBe("error");
  expect(outline(events).slice(4)).toEqual([
    "message_start assistant",
    "message_end assistant",
    "turn_end",
    "agent_end",
    "agent_settled",
  ]);
});

test("K6: calls of an answer that hit the output limit are not run, and the model is asked again", async () => {
  let runs = 0;
  const cut = { ...calls(["1", "a", { x: 1 }]), stopReason: "length" as const };
  const agent = createAgent({ extensions: [scripted(cut), tool("a", () => ((runs += 1), "ran"))] });
  const { answer } = await agent.run("go");
  expect(runs).toBe(0);
  expect(resultTexts(agent)["1"]).toContain("output limit");
  expect(answer).toBe("done");
});

test("K8: the run ends after a batch whose every result says terminate, and only then", async () => {
  const stop = tool("stop", () => ({ content: [], terminate: true }));
  const all = scripted(calls(["1", "stop"], ["2", "stop"]));
  expect((await createAgent({ extensions: [all, stop] }).run("go")).outcome).toBe("done");
  expect(all.requests).toHaveLength(1);
  const some = scripted(calls(["1", "stop"], ["2", "other"]));
  await createAgent({ extensions: [some, stop, tool("other")] }).run("go");
  expect(some.requests).toHaveLength(2);
});

test("K9: an abort in mid-stream keeps what had arrived, and settles", async () => {
  const started = gate();
  const provider = scripted(async function* (request): AsyncGenerator<readonly StreamEvent[]> {
    const partial = assistant([{ type: "text", text: "half" }], { stopReason: "pending" });
    yield [{ type: "start", partial }];
    started.open();
    await new Promise((resolve) => request.signal.addEventListener("abort", resolve, { once: true }));
  });
  const agent = createAgent({ extensions: [provider] });
  const running = agent.run("go");
  await started.promise;
  await agent.abort();
  await agent.abort();
  const { outcome, messages } = await running;
  expect(outcome).toBe("aborted");
  expect(messages.at(-1)).toMatchObject({ role: "assistant", stopReason: "aborted", content: [{ text: "half" }] });
  expect(agent.state.activity).toBe("idle");
});

test("K9: a provider that ignores the signal is given up after the grace period", async () => {
  const started = gate();
  const provider = scripted(async function* (): AsyncGenerator<readonly StreamEvent[]> {
    yield [{ type: "start", partial: assistant([], { stopReason: "pending" }) }];
    started.open();
    await new Promise(() => {});
  });
  const agent = createAgent({ extensions: [provider], graceMs: 20 });
  const running = agent.run("go");
  await started.promise;
  await agent.abort();
  expect((await running).outcome).toBe("aborted");
});

test("F133 K9: a tool that ignores the signal is given up, named, and its late result dropped", async () => {
  const started = gate();
  const late = gate<string>();
  const stubborn = (pi: ExtensionAPI) => tool("stubborn", () => (started.open(), late.promise))(pi);
  const agent = createAgent({ extensions: [scripted(calls(["1", "stubborn"])), stubborn], graceMs: 20 });
  const faults: string[] = [];
  agent.on("fault", ({ owner, error }) => void faults.push(`${owner}: ${error.message}`));
  const running = agent.run("go");
  await started.promise;
  await agent.abort();
  await running;
  late.open("too late");
  await late.promise;
  expect(resultTexts(agent)["1"]).toContain("did not stop");
  expect(faults).toEqual([expect.stringMatching(/^stubborn: The tool stubborn did not end within 0.02 s/)]);
});

test("K9: calls that had not begun when the abort came get a result that says so", async () => {
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "first"], ["2", "second"])),
      tool("first", (_args, _signal, ctx) => (ctx.abort(), "ok"), { executionMode: "sequential" }),
      tool("second"),
    ],
  });
  expect((await agent.run("go")).outcome).toBe("aborted");
  expect(resultTexts(agent)["2"]).toContain("aborted");
});

test("K10 F134: steering enters after the tools of the turn, follow-ups when the run would end", async () => {
  const provider = scripted(calls(["1", "a"]));
  const agent = createAgent({
    extensions: [
      provider,
      tool("a", () => {
        agent.followUp("later");
        agent.steer("now");
        return "ok";
      }),
    ],
  });
  await agent.run("go");
  const sent = provider.requests.map(({ messages }) => messages.at(-1)?.content);
  expect(sent).toEqual(["go", "now", "later"]);
});

test("K10: one steering message enters at a time, or all of them", async () => {
  for (const [steeringMode, expected] of [
    ["one-at-a-time", 3],
    ["all", 2],
  ] as const) {
    const provider = scripted(calls(["1", "a"]));
    const agent = createAgent({
      steeringMode,
      extensions: [provider, tool("a", () => (agent.steer("x"), agent.steer("y"), "ok"))],
    });
    await agent.run("go");
    expect(provider.requests).toHaveLength(expected);
  }
});

test("K10: what was queued when a run is aborted comes back", async () => {
  const started = gate();
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "wait"])),
      tool("wait", (_args, signal) => (started.open(), untilAborted(signal))),
    ],
  });
  const running = agent.run("go");
  await started.promise;
  agent.steer("s");
  agent.followUp("f");
  const { steering, followUp } = await agent.abort();
  await running;
  expect([steering, followUp].map((list) => list.map(({ content }) => content))).toEqual([["s"], ["f"]]);
});

test("K11: maxTurns ends a run that wants to go on, and only such a run", async () => {
  const forever = scripted(calls(["1", "a"]), calls(["2", "a"]), calls(["3", "a"]));
  expect((await createAgent({ maxTurns: 2, extensions: [forever, tool("a")] }).run("go")).outcome).toBe("max_turns");
  expect(forever.requests).toHaveLength(2);
  const once = scripted(text("one"));
  expect((await createAgent({ maxTurns: 1, extensions: [once] }).run("go")).outcome).toBe("done");
});

test("K11: a turn_end hook may stop a run, or make it go on", async () => {
  const stopper = (pi: ExtensionAPI) => void pi.on("turn_end", () => ({ stop: true }));
  expect((await createAgent({ extensions: [scripted(calls(["1", "a"])), tool("a"), stopper] }).run("go")).outcome).toBe(
    "stopped",
  );
  const provider = scripted();
  const entries = [{ type: "custom_message" as const, customType: "x", content: "And now?", display: true }];
  const goOn = (pi: ExtensionAPI) =>
    void pi.on("turn_end", ({ turnIndex }) => (turnIndex === 0 ? { continue: true, entries } : undefined));
  await createAgent({ extensions: [provider, goOn] }).run("go");
  expect(provider.requests).toHaveLength(2);
});

test("K12: continue goes on after a failure, and answers dangling calls as interrupted", async () => {
  const provider = scripted(failure("server"), text("better"));
  const agent = createAgent({ extensions: [provider] });
  await agent.run("go");
  expect(await agent.continue()).toBe("done");
  expect(provider.requests[1]?.messages.map(({ role }) => role)).toEqual(["user"]);

  const resumed = scripted();
  const entries = [
    {
      type: "message" as const,
      id: "00000001",
      parentId: null,
      timestamp: "2026-01-01T00:00:00.000Z",
      message: { role: "user" as const, content: "hi", timestamp: 1 },
    },
    {
      type: "message" as const,
      id: "00000002",
      parentId: "00000001",
      timestamp: "2026-01-01T00:00:00.000Z",
      message: calls(["1", "a"]),
    },
  ];
  const later = createAgent({ extensions: [resumed], entries });
  expect(await later.continue()).toBe("done");
  expect(resultTexts(later)["1"]).toContain("Interrupted, outcome unknown");
});

test("K12: continue says why not when the last message is the assistant's, or there is none", async () => {
  const agent = createAgent({ extensions: [scripted()] });
  await expect(agent.continue()).rejects.toMatchObject({ code: "cannot_continue" });
  await agent.run("go");
  await expect(agent.continue()).rejects.toMatchObject({
    code: "cannot_continue",
    message: expect.stringContaining("assistant's"),
  });
});

test("K15: fields that nobody here knows survive, also frozen in the transcript", async () => {
  const odd = Object.assign(text("hi"), { futureField: { a: [1] } });
  const agent = createAgent({ extensions: [scripted(odd)] });
  const { messages } = await agent.run("go");
  expect(messages.at(-1)).toHaveProperty("futureField", { a: [1] });
  expect(Object.isFrozen(messages.at(-1)?.content)).toBe(true);
});

test("a stream that ends without its last event is a failure, not an answer", async () => {
  const provider = scripted(async function* (): AsyncGenerator<readonly StreamEvent[]> {
    yield [{ type: "start", partial: assistant([{ type: "text", text: "cut" }], { stopReason: "pending" }) }];
  });
  const { messages, outcome } = await createAgent({ extensions: [provider] }).run("go");
  expect(outcome).toBe("error");
  expect(messages.at(-1)).toMatchObject({
    stopReason: "error",
    failure: { kind: "malformed_response" },
    content: [{ text: "cut" }],
  });
});

test("a provider that throws at once, or goes on after its last event, does not break the loop", async () => {
  const thrower = scripted(() => {
    throw new Error("boom");
  });
  const failed = await createAgent({ extensions: [thrower] }).run("go");
  expect(failed.messages.at(-1)).toMatchObject({ stopReason: "error", errorMessage: "boom" });
  const talker = scripted(async function* (): AsyncGenerator<readonly StreamEvent[]> {
    yield [...whole(text("first")), ...whole(text("second"))];
    yield whole(text("third"));
  });
  expect((await createAgent({ extensions: [talker] }).run("go")).answer).toBe("first");
});

test("pause_turn is asked again, at most eight times in a row", async () => {
  const provider = scripted(...Array.from({ length: 12 }, () => text("…", { rawStopReason: "pause_turn" })));
  await createAgent({ extensions: [provider] }).run("go");
  expect(provider.requests).toHaveLength(9);
});

test("duplicate and empty call ids are told apart, and each call gets its own result", async () => {
  const agent = createAgent({
    extensions: [scripted(calls(["x", "a", { n: 1 }], ["x", "a", { n: 2 }], ["", "a", { n: 3 }])), tool("a")],
  });
  await agent.run("go");
  expect(resultTexts(agent)).toEqual({ x: '{"n":1}', x_2: '{"n":2}', call_2: '{"n":3}' });
});

test("a listener that prompts when the run has settled starts the next run", async () => {
  const provider = scripted();
  const agent = createAgent({ extensions: [provider] });
  let isAsked = false;
  agent.on("agent_settled", () => {
    if (!isAsked) void agent.input("again");
    isAsked = true;
  });
  await agent.run("go");
  await agent.input("third");
  await agent.settled();
  expect(provider.requests.map(({ messages }) => messages.at(-1)?.content)).toEqual(["go", "again", "third"]);
});

test("a provider_error hook has the failed call tried again, and its failure is not sent", async () => {
  const provider = scripted(failure("overloaded"), text("fine"));
  const retry = (pi: ExtensionAPI) =>
    void pi.on("provider_error", () => ({ retry: { delayMs: 1, reason: "overloaded" } }));
  const agent = createAgent({ extensions: [provider, retry] });
  const events = record(agent);
  expect((await agent.run("go")).answer).toBe("fine");
  expect(outline(events).filter((type) => /turn_|retry/.test(type))).toEqual([
    "turn_start",
    "turn_end",
    "auto_retry_start",
    "auto_retry_end",
    "turn_start",
    "turn_end",
  ]);
  expect(provider.requests[1]?.messages).toHaveLength(1);
});

function untilAborted(signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve("stopped"), { once: true }));
}
