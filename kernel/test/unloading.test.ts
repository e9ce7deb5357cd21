import { afterEach, expect, test, vi } from "vitest";
import { type Context, createAgent, type ExtensionAPI } from "../src/index.ts";
import { faultsOf, named, prompt } from "./named.ts";
import { calls, gate, model, outline, record, resultTexts, scripted, tool } from "./scripted.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** An extension that registers one of everything. */
function everything(pi: ExtensionAPI): void {
  tool("t")(pi);
  pi.registerCommand("c", { handler: () => {} });
  pi.registerShortcut("ctrl+x", { handler: () => {} });
  pi.registerFlag("f", { type: "boolean" });
  pi.registerProvider({ id: "p", api: "x", models: [{ ...model, id: "p", provider: "p" }], env: [] });
  pi.registerMessageRenderer("m", () => undefined);
  pi.registerEntryRenderer("e", () => undefined);
  pi.register("section", "s", { slot: "rules", text: "S" });
  pi.register("service", "compaction", {});
  pi.register("projector", "x", () => []);
  pi.limitEffects({ ceiling: "read", reason: "x" });
  pi.declareHook("mine", { way: "notify" });
  pi.on("turn_start", () => {
    throw new Error("still heard");
  });
  pi.events.on("channel", () => {
    throw new Error("still heard");
  });
}
const KINDS = [
  "tool",
  "command",
  "shortcut",
  "flag",
  "provider",
  "message-renderer",
  "entry-renderer",
  "section",
  "service",
  "projector",
] as const;

test("E1 F008: unloading takes back everything that was registered, and loading again makes it new, once", async () => {
  const agent = createAgent({ extensions: [scripted()] });
  await agent.ready();
  const sizes = () => KINDS.map((kind) => agent.registry(kind).size);
  const before = sizes();
  for (let i = 0; i < 3; i++) {
    const [report] = await agent.extend([named("mine", everything)]);
    expect(report?.state).toBe("loaded");
    expect(sizes()).toEqual(before.map((size) => size + 1));
    expect(agent.state.limits).toHaveLength(1);
    expect(await agent.unload("mine")).toEqual({ leaks: [] });
    expect(sizes()).toEqual(before);
    expect(agent.state.limits).toHaveLength(0);
  }
  const faults = faultsOf(agent);
  await prompt(agent);
  expect(faults).toEqual([]);
});

test("E1: what a factory registered before it failed vanishes, and nobody ever saw it", async () => {
  const seen: number[] = [];
  const failing = named("failing", async (pi) => {
    everything(pi);
    await Promise.resolve();
    seen.push(...KINDS.map((kind) => agent.registry(kind).size));
    throw new Error("no");
  });
  const agent = createAgent({ extensions: [failing] });
  await agent.ready();
  expect(Math.max(...seen, ...KINDS.map((kind) => agent.registry(kind).size))).toBe(0);
  expect(agent.state.limits).toEqual([]);
});

test("E1: what was undone while the factory ran does not take effect, and undoing twice is undoing once", async () => {
  const undone = named("undone", (pi) => {
    const undo = pi.registerCommand("c", { handler: () => {} });
    void undo();
    void undo();
  });
  const agent = createAgent({ extensions: [undone] });
  await agent.ready();
  expect(agent.registry("command").size).toBe(0);
});

const ACTS: [what: string, act: (pi: ExtensionAPI) => unknown][] = [
  ["on", (pi) => pi.on("turn_start", () => {})],
  ["register", (pi) => pi.register("section", "s", { slot: "rules", text: "S" })],
  ["declareHook", (pi) => pi.declareHook("later", { way: "notify" })],
  ["dispatch", (pi) => pi.dispatch("mine" as never, {} as never)],
  ["service", (pi) => pi.service("files")],
  ["limitEffects", (pi) => pi.limitEffects({ ceiling: "read", reason: "x" })],
  ["complete", (pi) => pi.complete({ purpose: "x", messages: [] })],
  ["exec", (pi) => pi.exec("x", [])],
  ["onDispose", (pi) => pi.onDispose(() => {})],
  ["events.on", (pi) => pi.events.on("c", () => {})],
  ["events.emit", (pi) => pi.events.emit("c", 1)],
  ["sendMessage", (pi) => pi.sendMessage({ customType: "x", content: "x", display: true })],
  ["sendUserMessage", (pi) => pi.sendUserMessage("x")],
  ["appendEntry", (pi) => pi.appendEntry("x")],
  ["setLabel", (pi) => pi.setLabel("x", "y")],
  ["setSessionName", (pi) => pi.setSessionName("x")],
  ["setModel", (pi) => pi.setModel(model)],
  ["setThinkingLevel", (pi) => pi.setThinkingLevel("low")],
  ["setActiveTools", (pi) => pi.setActiveTools([])],
  ["getFlag", (pi) => pi.getFlag("f")],
  ["getSessionName", (pi) => pi.getSessionName()],
  ["getActiveTools", (pi) => pi.getActiveTools()],
  ["getAllTools", (pi) => pi.getAllTools()],
  ["getCommands", (pi) => pi.getCommands()],
];
const CONTEXT_ACTS: [what: string, act: (ctx: Context) => unknown][] = [
  ["cwd", (ctx) => ctx.cwd],
  ["ui", (ctx) => ctx.ui],
  ["model", (ctx) => ctx.model],
  ["transcript", (ctx) => ctx.transcript],
  ["isIdle", (ctx) => ctx.isIdle()],
  ["abort", (ctx) => ctx.abort()],
  ["shutdown", (ctx) => ctx.shutdown()],
  ["compact", (ctx) => ctx.compact()],
  ["exclusive", (ctx) => ctx.exclusive("compacting", async () => {})],
  ["createAgent", (ctx) => ctx.createAgent({})],
];

/** What an act comes to: its error's code, or nothing. */
async function codeOf(act: () => unknown): Promise<string | undefined> {
  try {
    await act();
    return undefined;
  } catch (thrown) {
    return (thrown as { code?: string }).code;
  }
}

test("E1 F008: an unloaded extension's pi and ctx say so instead of acting", async () => {
  let pi: ExtensionAPI | undefined;
  let ctx: Context | undefined;
  const mine = named("mine", (api) => {
    pi = api;
    api.declareHook("mine", { way: "notify" });
    api.on("turn_start", (_event, context) => {
      ctx = context;
    });
  });
  const agent = createAgent({ extensions: [scripted(), mine] });
  await prompt(agent);
  await agent.unload("mine");
  const size = agent.transcript.size;
  for (const [what, act] of ACTS) expect(await codeOf(() => act(pi!)), `pi.${what}`).toBe("stale_extension");
  for (const [what, act] of CONTEXT_ACTS) expect(await codeOf(() => act(ctx!)), `ctx.${what}`).toBe("stale_extension");
  expect(agent.transcript.size).toBe(size);
  expect(agent.state.thinkingLevel).toBe("medium");
});

test("E1: a failed factory's pi is as stale as an unloaded one's", async () => {
  let pi: ExtensionAPI | undefined;
  const failing = named("failing", (api) => {
    pi = api;
    throw new Error("no");
  });
  const agent = createAgent({ extensions: [failing] });
  await agent.ready();
  expect(await codeOf(() => pi!.registerCommand("c", {}))).toBe("stale_extension");
});

test("E1: a late factory that goes on registering after it was given up changes nothing", async () => {
  vi.useFakeTimers();
  const going = gate();
  let code: string | undefined;
  const late = named("late", async (pi) => {
    tool("early")(pi);
    await going.promise;
    code = await codeOf(() => tool("late")(pi));
  });
  const agent = createAgent({ extensions: [late] });
  await vi.advanceTimersByTimeAsync(10_000);
  await agent.ready();
  going.open();
  await vi.waitUntil(() => code !== undefined);
  expect(code).toBe("stale_extension");
  expect(agent.registry("tool").size).toBe(0);
});

test("E1: unloading in mid-run gives its running tools the signal and an error result, drops late results, and the run goes on", async () => {
  const started = gate();
  const late = gate<string>();
  let signal: AbortSignal | undefined;
  const mine = named("mine", (pi) =>
    tool("slow", (_args, given) => {
      signal = given;
      started.open();
      return late.promise;
    })(pi),
  );
  const other = named(
    "other",
    tool("quick", () => "q"),
  );
  const agent = createAgent({ extensions: [scripted(calls(["1", "slow"], ["2", "quick"])), mine, other] });
  const events = record(agent);
  const running = agent.run("go");
  await started.promise;
  await agent.unload("mine");
  const { outcome } = await running;
  late.open("too late");
  await late.promise;
  expect(signal?.aborted).toBe(true);
  expect(outcome).toBe("done");
  expect(resultTexts(agent)["1"]).toMatch(/unloaded/);
  expect(resultTexts(agent)["2"]).toBe("q");
  expect(agent.transcript.project().filter(({ role }) => role === "toolResult")).toMatchObject([
    { isError: true },
    { isError: false },
  ]);
  expect(outline(events).filter((type) => type.startsWith("tool_execution_end"))).toHaveLength(2);
});

test("E1: a tool whose owner was unloaded between its gate and its start is not run", async () => {
  let runs = 0;
  const mine = named(
    "mine",
    tool("a", () => `${++runs}`),
  );
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "a"])),
      mine,
      named("guard", (pi) => {
        pi.on("tool_call", async () => {
          await agent.unload("mine");
        });
      }),
    ],
  });
  await prompt(agent);
  expect(runs).toBe(0);
  expect(agent.transcript.project()[2]).toMatchObject({ role: "toolResult", isError: true });
});

test("E1: handlers of an extension that is unloaded while they are waited for do not hold the run", async () => {
  const hung = gate();
  const mine = named("mine", (pi) => {
    pi.on("before_turn", () => (hung.open(), new Promise(() => {})));
  });
  const agent = createAgent({ extensions: [scripted(), mine] });
  const running = agent.run("go");
  await hung.promise;
  await agent.unload("mine");
  expect((await running).answer).toBe("done");
});

test("E1: disposing the agent unloads in reverse, tells session_shutdown first, and answers every leak", async () => {
  const order: string[] = [];
  const ext = (name: string) =>
    named(name, (pi) => {
      pi.on("session_shutdown", () => void order.push(`shutdown ${name}`));
      pi.onDispose(() => {
        order.push(`dispose ${name}`);
        if (name === "b") throw new Error("stuck");
      });
      pi.onDispose(() => Promise.reject(new Error(`late ${name}`)));
    });
  const agent = createAgent({ extensions: [ext("a"), ext("b")] });
  const { leaks } = await agent.dispose();
  expect(order).toEqual(["shutdown a", "shutdown b", "dispose b", "dispose a"]);
  expect(leaks).toEqual([
    { owner: "b", what: "late b" },
    { owner: "b", what: "stuck" },
    { owner: "a", what: "late a" },
  ]);
  expect(await agent.dispose()).toEqual({ leaks });
});

test("E1 E2: an extension that is replaced keeps its place in the order, and the old one stays when the new one fails", async () => {
  const heard: string[] = [];
  const says = (name: string, what: string) =>
    named(name, (pi) => void pi.on("turn_start", () => void heard.push(what)));
  const agent = createAgent({ extensions: [scripted(), says("a", "a1"), says("b", "b1")] });
  await prompt(agent);
  const [replaced] = await agent.extend([says("a", "a2")], { replace: true });
  await prompt(agent);
  const broken = named("a", () => {
    throw new Error("no");
  });
  const [kept] = await agent.extend([broken], { replace: true });
  await prompt(agent);
  expect(heard).toEqual(["a1", "b1", "a2", "b1", "a2", "b1"]);
  expect([replaced?.state, kept?.state]).toEqual(["loaded", "kept"]);
  expect(kept?.error).toMatchObject({ message: "no", owner: "a" });
  await agent.unload("a");
  await prompt(agent);
  expect(heard.slice(6)).toEqual(["b1"]);
});

test("E1: a replacement takes over names, and what the old one could not take back is told", async () => {
  const old = named("a", (pi) => {
    tool("t", () => "old")(pi);
    pi.onDispose(() => {
      throw new Error("stuck");
    });
  });
  const agent = createAgent({ extensions: [scripted(calls(["1", "t"])), old] });
  const faults = faultsOf(agent);
  await agent.ready();
  const [report] = await agent.extend(
    [
      named(
        "a",
        tool("t", () => "new"),
      ),
    ],
    { replace: true },
  );
  expect(report).toMatchObject({ state: "loaded", leaks: [{ owner: "a", what: "stuck" }] });
  await prompt(agent);
  expect(resultTexts(agent)["1"]).toBe("new");
  expect(faults).toEqual([]);
});
