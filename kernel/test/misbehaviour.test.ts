import { expect, test } from "vitest";
import { createAgent, type ExtensionAPI, type HookName } from "../src/index.ts";
import { faultsOf, handles, named, prompt } from "./named.ts";
import { calls, failure, outline, record, resultTexts, scripted, tool } from "./scripted.ts";

const loop: { self?: unknown } = {};
loop.self = loop;

/** Answers that are no answer of their hook: each is its owner's fault, and changes nothing. */
const RUBBISH: [hook: HookName, what: string, answer: unknown][] = [
  ["input", "a text that is none", { action: "transform", text: 7 }],
  ["input", "images that are none", { action: "transform", text: "x", images: [{ type: "image", data: 7 }] }],
  ["before_agent_start", "a prompt that is no text", { systemPrompt: 7 }],
  ["before_agent_start", "a message without content", { message: { customType: "x", display: true } }],
  ["before_turn", "entries that are no list", { entries: "all" }],
  [
    "before_turn",
    "a message for an entry",
    { entries: [{ type: "message", message: { role: "user", content: "x", timestamp: 1 } }] },
  ],
  [
    "before_turn",
    "a custom message without content",
    { entries: [{ type: "custom_message", customType: "x", display: true }] },
  ],
  [
    "before_turn",
    "a compaction without summary",
    { entries: [{ type: "compaction", firstKeptEntryId: null, tokensBefore: 1 }] },
  ],
  [
    "before_turn",
    "an edit of nothing",
    { entries: [{ type: "context_edit", targetId: "nowhere", replacement: null }] },
  ],
  ["before_turn", "an entry that is no JSON", { entries: [{ type: "custom", customType: "x", data: loop }] }],
  ["before_turn", "a model that is none", { model: 7 }],
  ["before_turn", "a level that is none", { thinkingLevel: "very" }],
  ["before_turn", "tools that are no list", { activeTools: 7 }],
  ["context", "messages that are no list", { messages: "all" }],
  ["context", "messages without a role", { messages: [{}] }],
  ["context", "a message without content", { messages: [{ role: "user" }] }],
  ["message_end", "a message of another role", { message: { role: "toolResult" } }],
  ["message_end", "an answer without content", { message: { role: "assistant", usage: {} } }],
  ["tool_result", "content that is none", { content: "text" }],
  ["tool_result", "usage that is none", { usage: "much" }],
  ["turn_end", "entries that are no list", { entries: 7 }],
  ["turn_end", "entries that are no JSON", { entries: [{ type: "custom", customType: "x", data: () => {} }] }],
  ["agent_before_settle", "entries that are no list", { entries: {} }],
];

test.each(RUBBISH)(
  "K13: %s that answers with %s is reported, and the last good value holds",
  async (hook, _what, answer) => {
    const provider = scripted(calls(["1", "a"]));
    const agent = createAgent({
      systemPrompt: "P",
      extensions: [provider, tool("a"), handles("bad", hook, () => answer)],
    });
    const faults = faultsOf(agent);
    const events = record(agent);
    await prompt(agent);
    expect(faults[0]).toMatch(new RegExp(`^bad ${hook} `));
    const told = outline(events).filter((type) => type !== "extension_error");
    expect(told.slice(-2)).toEqual(["agent_end", "agent_settled"]);
    expect(events.find(({ type }) => type === "agent_end")).toMatchObject({ outcome: "done" });
    expect(provider.requests).toHaveLength(2);
    for (const request of provider.requests) {
      expect(request).toMatchObject({ systemPrompt: "P", model: { id: "scripted" }, thinkingLevel: "medium" });
      expect(request.tools.map(({ name }) => name)).toEqual(["a"]);
    }
    expect(provider.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult"]);
    expect(agent.state).toMatchObject({ activity: "idle", runId: undefined });
  },
);

test.each([
  ["a delay that is no number", { retry: { delayMs: "soon", reason: "x" } }],
  ["no delay", { retry: {} }],
  ["a delay before now", { retry: { delayMs: -1, reason: "x" } }],
  ["no plan at all", { retry: null }],
])("K13: a provider_error answer with %s is reported, and the call is not tried again", async (_what, answer) => {
  const provider = scripted(failure("server"));
  const agent = createAgent({ extensions: [provider, handles("bad", "provider_error", () => answer)] });
  const faults = faultsOf(agent);
  expect((await agent.run("go")).outcome).toBe("error");
  expect(faults).toEqual([expect.stringMatching(/^bad provider_error /)]);
  expect(provider.requests).toHaveLength(1);
});

test.each([
  ["a reason that is no text", { block: true, reason: 7 }],
  ["a reason that is no JSON", { block: true, reason: loop }],
])("K7 K13: a gate that refuses with %s still refuses, and what is stored is text", async (_what, answer) => {
  let runs = 0;
  const agent = createAgent({
    extensions: [scripted(calls(["1", "a"])), tool("a", () => `${++runs}`), handles("bad", "tool_call", () => answer)],
  });
  expect((await agent.run("go")).outcome).toBe("done");
  expect(runs).toBe(0);
  expect(typeof resultTexts(agent)["1"]).toBe("string");
  const result = agent.transcript.project().find(({ role }) => role === "toolResult");
  expect(result?.content).toEqual([{ type: "text", text: expect.any(String) }]);
});

test.each<[string, (event: { input: unknown }) => void]>([
  ["a cycle", (event) => void ((event.input as { self?: unknown }).self = event.input)],
  ["a big number", (event) => void ((event.input as { n?: unknown }).n = 1n)],
  ["a function", (event) => void ((event.input as { n?: unknown }).n = () => {})],
  ["something that is no object", (event) => void (event.input = 7)],
])(
  "K3 K7: a gate that makes %s of the arguments does not break the run, and the tool does not see it",
  async (_what, change) => {
    const seen: unknown[] = [];
    const agent = createAgent({
      extensions: [
        scripted(calls(["1", "a", { n: 1 }])),
        tool("a", (args) => (seen.push(args), "ran")),
        handles("bad", "tool_call", change as never),
      ],
    });
    expect((await agent.run("go")).outcome).toBe("done");
    for (const args of seen) expect(args).toEqual({ n: 1 });
    expect(Object.keys(resultTexts(agent))).toEqual(["1"]);
  },
);

test("K13: a vote, a gate and a chain that a package declared survive rubbish from their handlers", async () => {
  const answers: unknown[] = [];
  const declares = (pi: ExtensionAPI) => {
    for (const way of ["vote", "gate", "chain", "first"] as const) pi.declareHook(`my_${way}`, { way });
    pi.registerCommand("fire", {
      async handler() {
        for (const way of ["vote", "gate", "chain", "first"])
          answers.push(await pi.dispatch(`my_${way}` as never, {} as never));
      },
    });
  };
  const rubbish = (pi: ExtensionAPI) => {
    for (const way of ["vote", "gate", "chain"]) pi.on(`my_${way}` as never, (() => 7) as never);
  };
  const agent = createAgent({ extensions: [declares, named("bad", rubbish)] });
  await prompt(agent, "/fire");
  expect(answers[0]).toBeUndefined();
  expect(answers).toHaveLength(4);
});

test("a declared gate refuses on a fault, unless its package said to go on", async () => {
  const answers: unknown[] = [];
  const declares = (pi: ExtensionAPI) => {
    pi.declareHook("strict", { way: "gate" });
    pi.declareHook("lenient", { way: "gate", onFault: "continue" });
    pi.registerCommand("fire", {
      async handler() {
        for (const name of ["strict", "lenient"]) answers.push(await pi.dispatch(name as never, {} as never));
      },
    });
  };
  const throws = (pi: ExtensionAPI) => {
    for (const name of ["strict", "lenient"])
      pi.on(name as never, () => {
        throw new Error("no");
      });
  };
  await prompt(createAgent({ extensions: [declares, named("bad", throws)] }), "/fire");
  expect(answers).toEqual([
    expect.objectContaining({ block: true, reason: expect.stringContaining("bad") }),
    undefined,
  ]);
});

test("handlers that register while they are called are heard from the next dispatch on, and undoing in a call is heard too", async () => {
  const heard: string[] = [];
  const busy = (pi: ExtensionAPI) => {
    const undo = pi.on("turn_start", () => {
      heard.push("first");
      void undo();
      pi.on("turn_start", () => void heard.push("second"));
      tool("late")(pi);
    });
  };
  const agent = createAgent({ extensions: [scripted(), busy] });
  await prompt(agent);
  expect(heard).toEqual(["first"]);
  await prompt(agent);
  expect(heard).toEqual(["first", "second"]);
  expect(agent.registry("tool").has("late")).toBe(true);
});

test("K2: whatever a before_turn hook hands over, a run that began ends and settles", async () => {
  const hostile = {
    get activeTools() {
      throw new Error("no");
    },
  };
  const agent = createAgent({ extensions: [scripted(), handles("bad", "before_turn", () => hostile)] });
  const events = record(agent);
  await prompt(agent);
  expect(outline(events).filter((type) => type.startsWith("agent_"))).toEqual([
    "agent_start",
    "agent_end",
    "agent_settled",
  ]);
});
