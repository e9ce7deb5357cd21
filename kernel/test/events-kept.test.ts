import { expect, test, vi } from "vitest";
import { type Agent, type Context, createAgent, type HookName, type Message } from "../src/index.ts";
import { faultsOf, handles, named, prompt } from "./named.ts";
import { calls, model, resultTexts, scripted, text, tool } from "./scripted.ts";

/** Each member that a handler assigns, and what the next handler of the same hook sees in its place. */
const ASSIGNED: [hook: HookName, member: string, seen: unknown][] = [
  ["input", "text", "go"],
  ["input", "source", "interactive"],
  ["before_agent_start", "systemPrompt", ""],
  ["before_agent_start", "prompt", "go"],
  ["message_end", "message", expect.objectContaining({ role: "user" })],
  ["turn_end", "outcome", "done"],
  ["turn_end", "message", expect.objectContaining({ role: "assistant" })],
  ["agent_end", "outcome", "done"],
  ["agent_settled", "outcome", "done"],
  ["tool_result", "content", [{ type: "text", text: "ran" }]],
  ["tool_execution_end", "result", expect.objectContaining({ content: [{ type: "text", text: "ran" }] })],
];

test.each(ASSIGNED)(
  "V1: assigning in a handler of %s to event.%s changes nothing for others",
  async (hook, member, seen) => {
    const looked: unknown[] = [];
    const agent = createAgent({
      extensions: [
        scripted(calls(["1", "t"])),
        tool("t", () => "ran"),
        handles("assigns", hook, (event: Record<string, unknown>) => void (event[member] = "mine")),
        handles("looks", hook, (event: Record<string, unknown>) => void looked.push(event[member])),
      ],
    });
    await prompt(agent);
    expect(looked[0]).toEqual(seen);
    expect(agent.transcript.project().map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "assistant",
    ]);
  },
);

test.each<[string, (agent: Agent) => readonly unknown[]]>([
  ["project()", ({ transcript }) => transcript.project()],
  ["children()", ({ transcript }) => transcript.children(transcript.path()[0]!.parentId)],
  ["path()", ({ transcript }) => transcript.path()],
])("V2: what agent.transcript.%s answers is the caller's own", async (_name, ask) => {
  const agent = createAgent({ extensions: [scripted(text("x"))] });
  await prompt(agent);
  const before = [...ask(agent)];
  (ask(agent) as unknown[]).length = 0;
  expect(before.length).toBeGreaterThan(0);
  expect(ask(agent)).toEqual(before);
});

test("V2: what ctx.transcript.project() answers is the caller's own", async () => {
  const provider = scripted(text("one"), text("two"));
  const reverses = handles("reverses", "turn_end", (_event: never, ctx: Context) => {
    (ctx.transcript.project() as Message[]).reverse();
  });
  const agent = createAgent({ extensions: [provider, reverses] });
  await prompt(agent, "q1");
  await prompt(agent, "q2");
  expect(provider.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
});

test("V2: what a provider_call handler pushes to request.messages does not stay", async () => {
  const provider = scripted(text("one"), text("two"));
  const pushes = named("pushes", (pi) => {
    pi.on("provider_call", (request, next) => {
      (request.messages as Message[]).push({ role: "user", content: "reminder", timestamp: 1 });
      return next(request);
    });
  });
  const agent = createAgent({ extensions: [provider, pushes] });
  await prompt(agent, "q1");
  await prompt(agent, "q2");
  const sent = provider.requests.map(({ messages }) => messages.map(({ role }) => role).join(" "));
  expect(sent).toEqual(["user user", "user assistant user user"]);
  expect(agent.transcript.project()).toHaveLength(4);
});

test("V3: what an extension does to ctx.model does not reach the provider", async () => {
  const provider = scripted(text("x"));
  const defaces = handles("defaces", "turn_start", (_event: never, ctx: Context) => void (ctx.model!.api = "nope"));
  const agent = createAgent({ extensions: [provider, defaces] });
  await prompt(agent);
  expect(provider.requests[0]?.model).toEqual(model);
  expect(agent.transcript.project().at(-1)).toMatchObject({ stopReason: "stop" });
});

test("V3: a model that holds a function can be shown to the handlers of before_turn", async () => {
  const looked: unknown[] = [];
  const looks = handles("looks", "before_turn", (event: { model: unknown }) => void looked.push(event.model));
  const agent = createAgent({
    model: { ...model, compat: { fn() {} } } as never,
    extensions: [scripted(text("x")), looks],
  });
  const faults = faultsOf(agent);
  await prompt(agent);
  expect(faults).toEqual([]);
  expect(looked).toMatchObject([{ id: "scripted" }]);
  expect(agent.transcript.project().at(-1)).toMatchObject({ stopReason: "stop" });
});

test("V4: agent_end and the answer of run() hold custom messages too", async () => {
  const adds = handles("adds", "before_agent_start", () => ({
    message: { customType: "note", content: "mind this", display: true },
  }));
  const agent = createAgent({ extensions: [scripted(text("x")), adds] });
  const ended: string[] = [];
  agent.on("agent_end", ({ messages }) => void ended.push(...messages.map(({ role }) => role)));
  const { messages } = await agent.run("q");
  expect(messages.map(({ role }) => role)).toEqual(["user", "custom", "assistant"]);
  expect(ended).toEqual(["user", "custom", "assistant"]);
});

test("V5: a gate that answers something else than a decision refuses, and is reported", async () => {
  let ran = false;
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "t"])),
      tool("t", () => ((ran = true), "ran")),
      handles("g", "tool_call", () => ({ blocked: true })),
    ],
  });
  const faults = faultsOf(agent);
  await prompt(agent);
  expect(ran).toBe(false);
  expect(resultTexts(agent)["1"]).toContain("refused");
  expect(faults).toEqual([expect.stringMatching(/^g tool_call /)]);
});

test("V6: a handler of a hook that nobody declares is told once", async () => {
  const agent = createAgent({ extensions: [scripted(), handles("typo", "turn_ended" as HookName, () => {})] });
  const faults = faultsOf(agent);
  await prompt(agent);
  await prompt(agent);
  expect(faults).toEqual(["typo turn_ended unknown_hook"]);
});

test.each<[HookName, "at once" | "later"]>([
  ["tool_call", "at once"],
  ["tool_call", "later"],
  ["turn_end", "at once"],
  ["turn_end", "later"],
])(
  "V7: a handler of %s that unloads another extension %s keeps that one's from being called, and refuses nothing",
  async (hook, when) => {
    let called = 0;
    const agent: Agent = createAgent({
      extensions: [
        scripted(calls(["1", "t"])),
        tool("t", () => "ran"),
        handles("A", hook, () => {
          const unloading = agent.unload("B");
          return when === "later" ? unloading.then(() => {}) : undefined;
        }),
        handles("B", hook, (_event: never, ctx: Context) => void (called++, ctx.cwd)),
      ],
    });
    const faults = faultsOf(agent);
    await prompt(agent);
    expect([called, ...faults]).toEqual([0]);
    expect(resultTexts(agent)["1"]).toBe("ran");
  },
);

test("V8: an extension that is unloaded and loaded again under the same owner object in one run works", async () => {
  const entry = named(
    "x",
    tool("t", () => "fine"),
  );
  const swap = tool("swap", async () => {
    await agent.unload("x");
    await agent.extend([entry]);
    return "swapped";
  });
  const agent: Agent = createAgent({ extensions: [scripted(calls(["1", "swap"]), calls(["2", "t"])), entry, swap] });
  await prompt(agent);
  expect(resultTexts(agent)).toEqual({ "1": "swapped", "2": "fine" });
});

const CYCLE: Record<string, unknown> = {};
CYCLE.self = CYCLE;

test.each<[string, unknown]>([
  ["a bigint", { n: 1n }],
  ["a cycle", CYCLE],
])("V9 K7: prepared arguments with %s are an error result, and the other call runs", async (_what, prepared) => {
  const odd = tool("t", () => "ran", { prepareArguments: () => prepared as never });
  const gated = handles("g", "tool_call", () => {});
  const provider = scripted(calls(["1", "t"], ["2", "u"]));
  const agent = createAgent({ extensions: [provider, odd, tool("u", () => "ran"), gated] });
  const faults = faultsOf(agent);
  await prompt(agent);
  const results = agent.transcript.project().filter((message) => message.role === "toolResult");
  expect(results.map(({ isError }) => isError)).toEqual([true, false]);
  expect(faults).toEqual([]);
});

test("V9 K7: a limit that a gate sets and that cannot classify a call is an error result, and the other call runs", async () => {
  const classify = ({ toolName }: { toolName: string }) => (toolName === "u" ? JSON.parse("{") : "read");
  const limits = named("limits", (pi) => {
    pi.on("tool_call", ({ toolCallId }) => {
      if (toolCallId === "2") pi.limitEffects({ ceiling: "read", reason: "plan", classify });
    });
  });
  const provider = scripted(calls(["1", "t"], ["2", "u"]));
  const agent = createAgent({ extensions: [provider, tool("t", () => "ran"), tool("u", () => "ran"), limits] });
  await prompt(agent);
  expect(resultTexts(agent)).toEqual({ "1": "ran", "2": expect.stringContaining("JSON") });
});

test("V10: an answer whose usage has no cost ends well, at no cost", async () => {
  const agent = createAgent({ extensions: [scripted(text("x", { usage: { input: 1, output: 2 } as never }))] });
  const { answer, outcome, usage } = await agent.run("q");
  expect({ answer, outcome }).toEqual({ answer: "x", outcome: "done" });
  expect(usage).toMatchObject({ input: 1, output: 2, cost: { total: 0 } });
});

test("V11: a host whose ui.notify throws does not end the run", async () => {
  const told = vi.spyOn(console, "error").mockImplementation(() => {});
  const fails = (hook: HookName) => handles(`bad ${hook}`, hook, () => JSON.parse("{"));
  const notify = () => {
    throw new Error("no screen");
  };
  const agent = createAgent({
    extensions: [scripted(text("x")), fails("turn_start"), fails("extension_error")],
    host: { ui: { notify } as never },
  });
  const { outcome } = await agent.run("q");
  expect(outcome).toBe("done");
  expect(told).toHaveBeenCalledWith(expect.stringContaining("extension_error"));
  told.mockRestore();
});
