import { afterEach, expect, test, vi } from "vitest";
import { HookTable } from "../src/hooks.ts";
import { createAgent, currentOwner, type ExtensionAPI, type Message, type Owner } from "../src/index.ts";
import { calls, outline, record, resultTexts, scripted, text, tool } from "./scripted.ts";

const owner = (name: string): Owner => ({ name, scope: "inline" });

afterEach(() => {
  vi.useRealTimers();
});

function table() {
  const faults: string[] = [];
  const hooks = new HookTable(({ owner: { name }, error }) => void faults.push(`${name}: ${error.code}`));
  const on = (name: string, who: string, handler: (event: never) => unknown, order = 1) =>
    hooks.on(name, { owner: owner(who), order, handler: handler as never, context: {} as never });
  return { hooks, faults, on };
}

test("handlers run in load order, then registration order, on a snapshot", () => {
  const { hooks, on } = table();
  const heard: string[] = [];
  on("agent_start", "b", () => void heard.push("b1"), 2);
  on("agent_start", "a", () => {
    heard.push("a1");
    on("agent_start", "late", () => void heard.push("late"), 3);
  });
  on("agent_start", "b", () => void heard.push("b2"), 2);
  void hooks.notify(hooks.at.agent_start, {});
  expect(heard).toEqual(["a1", "b1", "b2"]);
});

test("dispatch is synchronous as long as handlers are", () => {
  const { hooks, on } = table();
  on("agent_start", "a", () => 1);
  expect(hooks.notify(hooks.at.agent_start, {})).toBeUndefined();
  on("agent_start", "b", async () => {});
  expect(hooks.notify(hooks.at.agent_start, {})).toBeInstanceOf(Promise);
});

test("K13: a handler that throws is reported with its owner and changes nothing for the others", async () => {
  const provider = scripted();
  const thrower = (pi: ExtensionAPI) =>
    void pi.on("turn_start", () => {
      throw new Error("mine");
    });
  const agent = createAgent({ extensions: [provider, { extension: thrower, owner: owner("thrower") }] });
  const events = record(agent);
  expect((await agent.run("go")).answer).toBe("done");
  expect(events.filter(({ type }) => type === "extension_error")).toMatchObject([
    { owner: "thrower", event: "turn_start", error: "mine" },
  ]);
});

test("K13 F101: a chain goes on with the last good value when a handler throws or returns rubbish", async () => {
  const provider = scripted();
  const first = (pi: ExtensionAPI) =>
    void pi.on("context", ({ messages }) => ({ messages: [...messages, { ...messages[0]! }] }));
  const rubbish = (pi: ExtensionAPI) => void pi.on("context", () => ({ messages: "all" }) as never);
  const thrower = (pi: ExtensionAPI) =>
    void pi.on("context", () => {
      throw new Error("no");
    });
  await createAgent({ extensions: [provider, first, rubbish, thrower] }).run("go");
  expect(provider.requests[0]?.messages.map(({ content }) => content)).toEqual(["go", "go"]);
});

test("K13: a tool_call gate that throws refuses", async () => {
  const thrower = (pi: ExtensionAPI) =>
    void pi.on("tool_call", () => {
      throw new Error("no");
    });
  const agent = createAgent({
    extensions: [scripted(calls(["1", "a"])), tool("a"), { extension: thrower, owner: owner("guard") }],
  });
  await agent.run("go");
  expect(resultTexts(agent)["1"]).toContain("refused: guard failed");
});

test("K13: a late handler is given up at its deadline and named; its clock stands still while it asks a person", async () => {
  vi.useFakeTimers();
  const { hooks, faults, on } = table();
  on("agent_start", "sleeper", () => new Promise(() => {}));
  let isTold = false;
  const told = Promise.resolve(hooks.notify(hooks.at.agent_start, {})).then(() => {
    isTold = true;
  });
  await vi.advanceTimersByTimeAsync(4_800);
  expect(isTold).toBe(false);
  await vi.advanceTimersByTimeAsync(400);
  await told;
  expect(faults).toEqual(["sleeper: hook_late"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("K13: the clock stands still while a handler waits for a person", async () => {
  vi.useFakeTimers();
  let answer: ((yes: boolean) => void) | undefined;
  const ui = { confirm: () => new Promise<boolean>((resolve) => (answer = resolve)) };
  const asker = (pi: ExtensionAPI) =>
    void pi.on("tool_call", async (_event, ctx) => ({ block: !(await ctx.ui.confirm("Run it?", "")) }));
  const agent = createAgent({
    extensions: [scripted(calls(["1", "a"])), tool("a", () => "ran"), asker],
    host: { ui: ui as never },
  });
  const running = agent.run("go");
  await vi.waitUntil(() => answer !== undefined);
  await vi.advanceTimersByTimeAsync(120_000);
  answer!(true);
  await running;
  expect(resultTexts(agent)["1"]).toBe("ran");
});

test("K14: a rejection that an extension leaves floating is told with its owner", async () => {
  const owners: (string | undefined)[] = [];
  const listener = () => void owners.push(currentOwner()?.name);
  const before = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", listener);
  const careless = (pi: ExtensionAPI) =>
    void pi.on("turn_start", () => {
      void Promise.reject(new Error("floating"));
      setTimeout(() => void Promise.reject(new Error("later")), 1);
    });
  await createAgent({ extensions: [scripted(), { extension: careless, owner: owner("careless") }] }).run("go");
  await vi.waitUntil(() => owners.length === 2);
  process.off("unhandledRejection", listener);
  for (const each of before) process.on("unhandledRejection", each);
  expect(owners).toEqual(["careless", "careless"]);
});

test("provider_call handlers wrap the call, the first one outermost, and may answer it themselves", async () => {
  const order: string[] = [];
  const wrap = (name: string) => (pi: ExtensionAPI) =>
    void pi.on("provider_call", (request, next) => {
      order.push(name);
      return next({ ...request, systemPrompt: `${request.systemPrompt}${name}` });
    });
  const provider = scripted();
  await createAgent({ extensions: [provider, wrap("a"), wrap("b")] }).run("go");
  expect(order).toEqual(["a", "b"]);
  expect(provider.requests[0]?.systemPrompt).toBe("ab");
});

test("a message_end hook replaces a message by one of the same role, and by no other", async () => {
  const replacing = (pi: ExtensionAPI) =>
    void pi.on("message_end", ({ message }) =>
      message.role === "assistant" ? { message: text("replaced") } : undefined,
    );
  const wrong = (pi: ExtensionAPI) => void pi.on("message_end", () => ({ message: { role: "system" } }) as never);
  const agent = createAgent({ extensions: [scripted(), replacing, wrong] });
  expect((await agent.run("go")).answer).toBe("replaced");
});

test("context handlers get frozen messages in an array of their own, and what they do to it counts for the next", async () => {
  const provider = scripted();
  const seen: unknown[] = [];
  const cutter = (pi: ExtensionAPI) =>
    void pi.on("context", (event) => {
      seen.push(Object.isFrozen(event.messages[0]));
      event.messages.unshift({ role: "user", content: "before", timestamp: 1 });
    });
  const looker = (pi: ExtensionAPI) =>
    void pi.on("context", ({ messages }) => void seen.push(messages.map(({ content }) => content)));
  const agent = createAgent({ extensions: [provider, cutter, looker] });
  await agent.run("go");
  expect(seen).toEqual([true, ["before", "go"]]);
  expect(provider.requests[0]?.messages.map(({ content }) => content)).toEqual(["before", "go"]);
  expect(agent.transcript.project()).toHaveLength(2);
});

const answered = (said: string) => ({
  role: "assistant",
  content: [{ type: "text", text: said }],
  api: "x",
  provider: "x",
  model: "x",
  usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { total: 0 } },
  stopReason: "stop",
  timestamp: 1,
});

test.each([
  ["leaves nothing", (messages: unknown[]) => void messages.splice(0)],
  ["puts in what is no message", (messages: unknown[]) => void messages.push(null)],
  ["puts in a message of the system", (messages: unknown[]) => void messages.push({ role: "system", content: "" })],
  ["returns nothing to send", () => ({ messages: [] })],
  ["sends a message twice", (messages: unknown[]) => ({ messages: [...messages, messages[0]] })],
  ["leaves nothing to answer", () => ({ messages: [answered("said")] })],
  [
    "fails half way",
    (messages: unknown[]) => {
      messages.length = 0;
      throw new Error("no");
    },
  ],
] as [string, (messages: unknown[]) => unknown][])(
  "F101 a context handler that %s is named, and the last good list is sent",
  async (_, spoil) => {
    const provider = scripted();
    const marker = (pi: ExtensionAPI) =>
      void pi.on("context", ({ messages }) => ({
        messages: [{ role: "user" as const, content: "mark", timestamp: 1 }, ...messages],
      }));
    const spoiler = (pi: ExtensionAPI) => void pi.on("context", ({ messages }) => spoil(messages) as never);
    const agent = createAgent({ extensions: [provider, marker, { extension: spoiler, owner: owner("spoiler") }] });
    const events = record(agent);
    await agent.run("go");
    expect(events).toContainEqual(
      expect.objectContaining({ type: "extension_error", owner: "spoiler", event: "context" }),
    );
    expect(provider.requests[0]?.messages.map(({ content }) => content)).toEqual(["mark", "go"]);
  },
);

test("before_turn may change model, level, tools and the transcript for the turn at hand", async () => {
  const provider = scripted();
  const planner = (pi: ExtensionAPI) =>
    void pi.on("before_turn", () => ({
      activeTools: ["b"],
      entries: [{ type: "custom_message", customType: "note", content: "mind the gap", display: false }],
    }));
  await createAgent({ extensions: [provider, tool("a"), tool("b"), planner] }).run("go");
  expect(provider.requests[0]?.tools.map(({ name }) => name)).toEqual(["b"]);
  expect(provider.requests[0]?.messages.at(-1)?.content).toBe("mind the gap");
});

test("drafts that cannot be stored are refused together, and their handler is named", async () => {
  const bad = (pi: ExtensionAPI) =>
    void pi.on("turn_end", () => ({
      entries: [
        { type: "custom", customType: "fine" },
        { type: "context_edit", targetId: "nowhere", replacement: null },
      ],
    }));
  const agent = createAgent({ extensions: [scripted(), { extension: bad, owner: owner("bad") }] });
  const events = record(agent);
  await agent.run("go");
  expect(events).toContainEqual(
    expect.objectContaining({ type: "extension_error", owner: "bad", code: "invalid_entry" }),
  );
  expect(agent.transcript.path().some(({ type }) => type === "custom")).toBe(false);
});

test("a package declares a point of its own, others handle it, and only it may fire it", async () => {
  let fire: ((name: string) => Promise<unknown>) | undefined;
  const declares = (pi: ExtensionAPI) => {
    pi.declareHook("user_bash", { way: "gate", wire: true });
    fire = (command) => pi.dispatch("user_bash" as never, { command } as never);
  };
  const handles = (pi: ExtensionAPI) =>
    void pi.on(
      "user_bash" as never,
      ((event: { command: string }) => (event.command === "rm" ? { block: true } : undefined)) as never,
    );
  let intruder: Promise<unknown> | undefined;
  const intrudes = (pi: ExtensionAPI) =>
    void (intruder = pi.dispatch("turn_start", {} as never).catch(({ code }) => code));
  const agent = createAgent({ extensions: [handles, declares, intrudes] });
  const events = record(agent);
  await agent.ready();
  expect(await fire!("rm")).toEqual({ block: true });
  expect(await fire!("ls")).toBeUndefined();
  expect(outline(events), "the refused one went no further").toEqual(["user_bash"]);
  expect(await intruder).toBe("not_declared");
});

test("a vote is no when any handler says no; faults and inexact answers count for nothing", async () => {
  const { hooks, on } = table();
  hooks.declare("project_trust", { way: "vote" });
  const vote = () => hooks.dispatch(hooks.point("project_trust"), {});
  expect(await vote()).toBeUndefined();
  on("project_trust", "sloppy", () => ({ trusted: true }));
  on("project_trust", "thrower", () => {
    throw new Error("x");
  });
  expect(await vote()).toBeUndefined();
  on("project_trust", "yes", () => ({ trusted: "yes" }));
  expect(await vote()).toEqual({ trusted: "yes", remember: false });
  on("project_trust", "no", () => ({ trusted: "no" }));
  on("project_trust", "yes too", () => ({ trusted: "yes" }));
  expect(await vote()).toMatchObject({ trusted: "no" });
});

test.each<[string, (pi: ExtensionAPI) => void]>([
  [
    "throws",
    (pi) =>
      void pi.on("provider_call", () => {
        throw new Error("over budget");
      }),
  ],
  [
    "throws while it streams",
    (pi) =>
      void pi.on("provider_call", async function* () {
        if (pi.owner.name) throw new Error("over budget");
        yield [];
      }),
  ],
])("K13: a provider_call handler that %s fails the call, and is reported once with its owner", async (_, thrower) => {
  const provider = scripted();
  const passer = (pi: ExtensionAPI) => void pi.on("provider_call", (request, next) => next(request));
  const agent = createAgent({
    extensions: [provider, passer, { extension: thrower, owner: owner("thrower") }],
  });
  const events = record(agent);
  expect(await agent.run("go")).toMatchObject({ outcome: "error", messages: [{}, { errorMessage: "over budget" }] });
  expect(provider.requests).toHaveLength(0);
  expect(events.filter(({ type }) => type === "extension_error")).toEqual([
    expect.objectContaining({ owner: "thrower", event: "provider_call", error: "over budget" }),
  ]);
});

test("K13: what the provider itself throws is nobody else's fault", async () => {
  const failing = (pi: ExtensionAPI) => {
    scripted()(pi);
    pi.register("api", "scripted", {
      stream() {
        throw new Error("down");
      },
    });
  };
  const passer = (pi: ExtensionAPI) => void pi.on("provider_call", (request, next) => next(request));
  const agent = createAgent({ extensions: [failing, passer] });
  const events = record(agent);
  expect((await agent.run("go")).outcome).toBe("error");
  expect(events.filter(({ type }) => type === "extension_error")).toEqual([]);
});

test("E5: what a handler of message_end gets is frozen, tool results too", async () => {
  const frozen: boolean[] = [];
  const looker = (pi: ExtensionAPI) =>
    void pi.on("message_end", ({ message }) => void frozen.push(Object.isFrozen(message)));
  await createAgent({ extensions: [scripted(calls(["1", "a"])), tool("a"), looker] }).run("go");
  expect(frozen).toEqual([true, true, true, true]);
});

test("what before_provider_request changes in place is sent, and nothing of what the provider keeps", async () => {
  const kept = { messages: [{ content: "as it was" }] };
  const sent: unknown[] = [];
  const provider = scripted();
  const sender = (pi: ExtensionAPI) =>
    void pi.on("provider_call", async function* (request, next) {
      sent.push(await request.onPayload(kept));
      yield* next(request);
    });
  const spoiler = (pi: ExtensionAPI) =>
    void pi.on("before_provider_request", ({ payload }) => {
      (payload as typeof kept).messages[0]!.content = "changed";
    });
  await createAgent({ extensions: [provider, sender, spoiler] }).run("go");
  expect([sent, kept]).toEqual([[{ messages: [{ content: "changed" }] }], { messages: [{ content: "as it was" }] }]);
});

test("stored messages are sealed when a handler looks at them, in context and around the call", async () => {
  const seen: boolean[] = [];
  const isSealed = ({ messages }: { messages: readonly Message[] }) =>
    messages.every(({ content }) => typeof content === "string" || content.every((block) => Object.isFrozen(block)));
  const looker = (pi: ExtensionAPI) => {
    pi.on("context", (event) => void seen.push(isSealed(event)));
    pi.on("provider_call", (request, next) => (seen.push(isSealed(request)), next(request)));
  };
  const entry = {
    type: "message" as const,
    id: "00000001",
    parentId: null,
    timestamp: "2026-01-01T00:00:00.000Z",
    message: { role: "user" as const, content: [{ type: "text" as const, text: "stored" }], timestamp: 1 },
  };
  const agent = createAgent({ extensions: [scripted(), looker], entries: [entry] });
  await agent.input("go");
  await agent.settled();
  expect(seen).toEqual([true, true]);
});

test("F101 what a context handler adds is sent as it was when it was checked, and frozen", async () => {
  const provider = scripted();
  const added = { role: "user" as const, content: [{ type: "text" as const, text: "added" }], timestamp: 1 };
  const adder = (pi: ExtensionAPI) => void pi.on("context", ({ messages }) => ({ messages: [added, ...messages] }));
  const spoiler = (pi: ExtensionAPI) => {
    pi.on("context", ({ messages }) => {
      added.content[0]!.text = "changed later";
      expect(Object.isFrozen(messages[0])).toBe(true);
    });
  };
  const agent = createAgent({ extensions: [provider, adder, spoiler] });
  const events = record(agent);
  await agent.run("go");
  expect(events.filter(({ type }) => type === "extension_error")).toEqual([]);
  expect(provider.requests[0]?.messages[0]?.content).toEqual([{ type: "text", text: "added" }]);
});
