import { expect, test } from "vitest";
import { createAgent, type ExtensionAPI, type JsonObject } from "../src/index.ts";
import { calls, gate, record, resultTexts, scripted, tool } from "./scripted.ts";

const TEXT = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as never;

test("K3: arguments are coerced before any hook sees them", async () => {
  const seen: JsonObject[] = [];
  const watcher = (pi: ExtensionAPI) => void pi.on("tool_call", ({ input }) => void seen.push(structuredClone(input)));
  const parameters = {
    type: "object",
    properties: {
      count: { type: "number" },
      tags: { type: "array", items: { type: "string" } },
      note: { type: "string" },
    },
    required: ["count", "tags"],
  } as never;
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "a", { count: "7", tags: '["x"]', note: null }])),
      tool("a", undefined, { parameters }),
      watcher,
    ],
  });
  await agent.run("go");
  expect(seen).toEqual([{ count: 7, tags: ["x"] }]);
});

test("K3: an invalid call is not run, and the model is told each bad path, what was expected and what came", async () => {
  let runs = 0;
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "a", { text: { no: 1 } }])),
      tool("a", () => ((runs += 1), ""), { parameters: TEXT }),
    ],
  });
  await agent.run("go");
  expect(runs).toBe(0);
  expect(resultTexts(agent)["1"]).toMatch(/- text: .*string.*but came: \{"no":1\}/s);
});

test("K3: arguments that a hook changed are validated again", async () => {
  const breaker = (pi: ExtensionAPI) => void pi.on("tool_call", ({ input }) => void delete input.text);
  const agent = createAgent({
    extensions: [scripted(calls(["1", "a", { text: "x" }])), tool("a", undefined, { parameters: TEXT }), breaker],
  });
  await agent.run("go");
  expect(resultTexts(agent)["1"]).toContain("do not fit");
});

test("K4: every gate of a parallel batch is decided, in call order, before any of its tools starts", async () => {
  const order: string[] = [];
  const watcher = (pi: ExtensionAPI) =>
    void pi.on("tool_call", async ({ toolCallId }) => {
      await Promise.resolve();
      order.push(`gate ${toolCallId}`);
    });
  const run = (id: string) => () => (order.push(`run ${id}`), "ok");
  const agent = createAgent({
    extensions: [scripted(calls(["1", "a"], ["2", "b"])), tool("a", run("1")), tool("b", run("2")), watcher],
  });
  await agent.run("go");
  expect(order).toEqual(["gate 1", "gate 2", "run 1", "run 2"]);
});

test("K5: results enter the transcript in the order of the calls, whichever tool ends first", async () => {
  const slow = gate();
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "slow"], ["2", "quick"])),
      tool("slow", () => slow.promise.then(() => "s")),
      tool("quick", () => (slow.open(), "q")),
    ],
  });
  const { messages } = await agent.run("go");
  expect(messages.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : []))).toEqual([
    "1",
    "2",
  ]);
});

test("K7: an unknown tool, a throwing tool and a blocked call give error results, and the loop goes on", async () => {
  const blocker = (pi: ExtensionAPI) =>
    void pi.on("tool_call", ({ toolName }) =>
      toolName === "blocked" ? { block: true, reason: "not today" } : undefined,
    );
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "nothing"], ["2", "throws"], ["3", "blocked"])),
      tool("throws", () => {
        throw new Error("bang");
      }),
      tool("blocked"),
      blocker,
    ],
  });
  const { answer } = await agent.run("go");
  expect(resultTexts(agent)).toEqual({
    1: "There is no tool nothing. The tools are: throws, blocked.",
    2: "bang",
    3: "not today",
  });
  expect(answer).toBe("done");
});

test("K7: results that are no JSON, too deep or no result at all become error results", async () => {
  let deep: unknown = [];
  for (let i = 0; i < 10_000; i++) deep = [deep];
  const loop: { self?: unknown } = {};
  loop.self = loop;
  const values: [string, unknown][] = [
    ["nothing", undefined],
    ["number", 7],
    ["content", { content: [{ type: "video" }] }],
    ["deep", { content: [{ type: "text", text: "x", extra: deep }] }],
    ["cycle", { content: [{ type: "text", text: "x", extra: loop }] }],
  ];
  for (const [name, value] of values) {
    const agent = createAgent({ extensions: [scripted(calls(["1", name])), tool(name, () => value)] });
    const { messages } = await agent.run("go");
    const result = messages.find((message) => message.role === "toolResult");
    expect(result, name).toMatchObject({ isError: true });
    expect(() => JSON.stringify(messages)).not.toThrow();
  }
});

test("F083 K7: lone surrogates in a result are made well-formed before they are stored", async () => {
  const agent = createAgent({ extensions: [scripted(calls(["1", "a"])), tool("a", () => "half \ud83d pair")] });
  await agent.run("go");
  expect(resultTexts(agent)["1"]).toBe("half \ufffd pair");
});

test("K7: arguments 10,000 levels deep, or that were no JSON, are refused without breaking the transcript", async () => {
  let deep: JsonObject = {};
  for (let i = 0; i < 10_000; i++) deep = { deep };
  const broken = calls(["2", "a"]);
  Object.assign(broken.content[0]!, { argumentsError: 'The arguments are not JSON: {"x":' });
  const script = scripted(() => calls(["1", "a", deep]), broken);
  const agent = createAgent({ extensions: [script, tool("a")] });
  expect((await agent.run("go")).outcome).toBe("done");
  expect(resultTexts(agent)["1"]).toContain("nested deeper");
  expect(resultTexts(agent)["2"]).toContain("not JSON");
});

test("a tool_result hook changes what the model sees, field by field", async () => {
  const censor = (pi: ExtensionAPI) => void pi.on("tool_result", () => ({ content: [{ type: "text", text: "***" }] }));
  const broken = (pi: ExtensionAPI) => void pi.on("tool_result", () => ({ content: "nonsense" }) as never);
  const agent = createAgent({ extensions: [scripted(calls(["1", "a"])), tool("a"), censor, broken] });
  await agent.run("go");
  expect(resultTexts(agent)["1"]).toBe("***");
});

test("progress is told while a tool runs, and not afterwards", async () => {
  let keep: ((partial: { content: [] }) => void) | undefined;
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "a"])),
      tool("a", (_args, _signal, _ctx, onUpdate) => {
        keep = onUpdate;
        onUpdate({ content: [] });
        return "ok";
      }),
    ],
  });
  const events = record(agent);
  await agent.run("go");
  keep?.({ content: [] });
  expect(events.filter(({ type }) => type === "tool_execution_update")).toHaveLength(1);
});

test("E8: a limit on effects holds whatever hooks say, also for arguments that a hook changed", async () => {
  const effect = ({ text }: JsonObject) => (text === "safe" ? "read" : "write");
  const limiter = (pi: ExtensionAPI) => void pi.limitEffects({ ceiling: "read", reason: "plan mode" });
  const swapper = (pi: ExtensionAPI) =>
    void pi.on("tool_call", ({ input, toolCallId }) => {
      if (toolCallId === "3") input.text = "danger";
    });
  const agent = createAgent({
    extensions: [
      scripted(
        calls(["1", "a", { text: "safe" }], ["2", "a", { text: "danger" }], ["3", "a", { text: "safe" }], ["4", "b"]),
      ),
      tool("a", () => "ran", { parameters: TEXT, effect: effect as never }),
      tool("b", () => "ran"),
      limiter,
      swapper,
    ],
  });
  await agent.run("go");
  const texts = resultTexts(agent);
  expect(texts["1"]).toBe("ran");
  for (const id of ["2", "3", "4"]) expect(texts[id]).toContain("plan mode allows no more than read");
});

test("E8: classify may lower one call's effect for its own limit, never raise or lift another's", async () => {
  const extensions = (second: "read" | "write") => [
    scripted(calls(["1", "sh"])),
    tool("sh", () => "ran"),
    (pi: ExtensionAPI) => void pi.limitEffects({ ceiling: "read", reason: "one", classify: () => "read" }),
    (pi: ExtensionAPI) => void pi.limitEffects({ ceiling: second, reason: "two" }),
  ];
  const agent = createAgent({ extensions: extensions("write") });
  await agent.run("go");
  expect(resultTexts(agent)["1"]).toContain("two allows no more than write");
});

test("E8: a child agent made in a tool keeps the limits of its parent", async () => {
  const child = (pi: ExtensionAPI) =>
    tool(
      "child",
      async (_args, _signal, ctx) => {
        const agent = ctx.createAgent({ extensions: [tool("write", () => "wrote", { effect: "write" })] });
        const { messages } = await agent.run("inner");
        return JSON.stringify(messages.filter(({ role }) => role === "toolResult"));
      },
      { effect: "read" },
    )(pi);
  const limiter = (pi: ExtensionAPI) => void pi.limitEffects({ ceiling: "read", reason: "plan mode" });
  const agent = createAgent({ extensions: [scripted(calls(["1", "child"]), calls(["2", "write"])), child, limiter] });
  await agent.run("go");
  expect(resultTexts(agent)["1"]).toContain("plan mode allows no more than read");
});

test("E9: a gate hears which paths a call would touch", async () => {
  const heard: unknown[] = [];
  const watcher = (pi: ExtensionAPI) => void pi.on("tool_call", ({ touches }) => void heard.push(touches));
  const touching = tool("a", undefined, { touches: ({ text }) => ({ write: [text as string] }), parameters: TEXT });
  await createAgent({ extensions: [scripted(calls(["1", "a", { text: "/x" }])), touching, watcher] }).run("go");
  expect(heard).toEqual([{ read: [], write: ["/x"] }]);
});

test("E9: a gate hears what a call would touch after an earlier gate changed it", async () => {
  const heard: unknown[] = [];
  const changer = (pi: ExtensionAPI) => void pi.on("tool_call", ({ input }) => void (input.text = "/y"));
  const watcher = (pi: ExtensionAPI) => void pi.on("tool_call", ({ touches }) => void heard.push(touches?.write));
  const touching = tool("a", undefined, { touches: ({ text }) => ({ write: [text as string] }), parameters: TEXT });
  const provider = scripted(calls(["1", "a", { text: "/x" }]));
  await createAgent({ extensions: [provider, touching, changer, watcher] }).run("go");
  expect(heard).toEqual([["/y"]]);
});

test("E9: a tool that cannot say what it would touch is refused when a gate asks", async () => {
  const unsure = tool("a", () => "ran", {
    touches: () => {
      throw new Error("no idea");
    },
  });
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "a"])),
      unsure,
      (pi: ExtensionAPI) => void pi.on("tool_call", ({ touches }) => void touches),
    ],
  });
  await agent.run("go");
  expect(resultTexts(agent)["1"]).toContain("no idea");
});

test("K7: what a hook adds with a wrong shape is refused with its owner, and never stored", async () => {
  const drafts = [
    { customType: "x" },
    { role: "assistant" },
    { customType: "x", content: [{ type: "text", text: 5 }] },
  ];
  for (const draft of drafts) {
    const adder = (pi: ExtensionAPI) => void pi.on("before_agent_start", () => ({ message: draft }) as never);
    const agent = createAgent({
      extensions: [scripted(), { extension: adder, owner: { name: "adder", scope: "user" } }],
    });
    const faults: string[] = [];
    agent.on("fault", ({ owner }) => void faults.push(owner));
    expect((await agent.run("go")).answer).toBe("done");
    expect(faults).toEqual(["adder"]);
    expect(agent.transcript.path().some(({ type }) => type === "custom_message")).toBe(false);
  }
});

test("K7: an answer whose call has no name is a failure, not a poisoned transcript", async () => {
  const nameless = calls(["1", "a"]);
  Object.assign(nameless.content[0]!, { name: null });
  const agent = createAgent({ extensions: [scripted(() => nameless), tool("a")] });
  expect((await agent.run("go")).outcome).toBe("error");
  expect(agent.transcript.project().map(({ role }) => role)).toEqual(["user"]);
});

test("K7: a tool that throws something that throws when it is looked at gives an error result", async () => {
  const hostile = new Proxy(
    {},
    {
      get: () => {
        throw new Error("no");
      },
      getPrototypeOf: () => {
        throw new Error("no");
      },
    },
  );
  const agent = createAgent({ extensions: [scripted(calls(["1", "a"])), tool("a", () => Promise.reject(hostile))] });
  expect((await agent.run("go")).answer).toBe("done");
  expect(resultTexts(agent)["1"]).toContain("cannot be read");
});

test("K7: a result whose usage is no JSON, or a hook's details that are none, do not break the run", async () => {
  const odd = tool("a", () => ({ content: [], usage: { input: Number.NaN } }));
  const hook = (pi: ExtensionAPI) => void pi.on("tool_result", () => ({ details: { bad: () => {} } }) as never);
  expect((await createAgent({ extensions: [scripted(calls(["1", "a"])), odd, hook] }).run("go")).answer).toBe("done");
});
