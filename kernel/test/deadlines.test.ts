import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Agent, createAgent, type ExtensionAPI, type HookName, type Ui } from "../src/index.ts";
import { handles, named, prompt } from "./named.ts";
import { calls, failure, resultTexts, scripted, tool } from "./scripted.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  // What was spied on are the false timers: first these.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** What is reported beside that it was slow, which a late handler is too. */
function lateOf(agent: Agent): string[] {
  const faults: string[] = [];
  agent.on("extension_error", ({ owner, event, code }) => {
    if (code !== "hook_slow") faults.push(`${owner} ${event} ${code}`);
  });
  return faults;
}

const never = () => new Promise<never>(() => {});

/** Runs a prompt with a handler that hangs once, and answers after how many seconds the run went on. */
async function secondsUntil(
  hook: HookName,
): Promise<{ seconds: number; faults: string[]; result: string | undefined }> {
  let hangs = true;
  const hung = Promise.withResolvers<void>();
  const handler = handles("slow", hook, () => {
    if (!hangs) return undefined;
    hangs = false;
    hung.resolve();
    return never();
  });
  const first = hook === "provider_error" ? failure("server") : calls(["1", "a"]);
  const agent = createAgent({ extensions: [scripted(first), tool("a", () => "ran"), handler] });
  const faults = lateOf(agent);
  const done = prompt(agent);
  const is = { done: false };
  void done.then(() => (is.done = true));
  await hung.promise;
  let seconds = 0;
  while (!is.done && seconds < 100) {
    await vi.advanceTimersByTimeAsync(1_000);
    seconds++;
  }
  await done;
  expect(vi.getTimerCount(), "no timer is left").toBe(0);
  return { seconds, faults, result: resultTexts(agent)["1"] };
}

test.each<[HookName, number]>([
  ["turn_start", 5],
  ["message_start", 5],
  ["tool_execution_start", 5],
  ["agent_settled", 5],
  ["before_agent_start", 30],
  ["before_turn", 30],
  ["context", 30],
  ["message_end", 30],
  ["tool_result", 30],
  ["turn_end", 30],
  ["agent_before_settle", 30],
  ["input", 30],
  ["tool_call", 30],
  ["provider_error", 30],
])("K13 F011: a handler of %s that hangs is given up after %i s, named, and the run goes on", async (hook, limit) => {
  const { seconds, faults, result } = await secondsUntil(hook);
  expect(Math.abs(seconds - limit)).toBeLessThanOrEqual(1);
  expect(faults).toEqual([`slow ${hook} hook_late`]);
  if (hook === "tool_call") expect(result).toContain("refused");
  else if (hook !== "provider_error") expect(result).toBe("ran");
});

test("K13: a late answer is not taken any more", async () => {
  const late = Promise.withResolvers<unknown>();
  const hung = Promise.withResolvers<void>();
  const provider = scripted();
  const slow = handles("slow", "before_agent_start", () => (hung.resolve(), late.promise));
  const agent = createAgent({ systemPrompt: "P", extensions: [provider, slow] });
  const done = prompt(agent);
  await hung.promise;
  await vi.advanceTimersByTimeAsync(31_000);
  late.resolve({ systemPrompt: "late" });
  await done;
  expect(provider.requests[0]?.systemPrompt).toBe("P");
  expect(agent.state.systemPrompt).toBe("P");
});

test("K13 F011: a handler that rejects after its deadline is no unhandled rejection", async () => {
  const late = Promise.withResolvers<void>();
  const hung = Promise.withResolvers<void>();
  const agent = createAgent({
    extensions: [scripted(), handles("slow", "turn_start", () => (hung.resolve(), late.promise))],
  });
  const faults = lateOf(agent);
  const done = prompt(agent);
  await hung.promise;
  await vi.advanceTimersByTimeAsync(6_000);
  late.reject(new Error("late"));
  await done;
  expect(faults).toEqual(["slow turn_start hook_late"]);
});

/** What a handler may wait in for as long as it takes. */
const UNHURRIED: [what: string, wait: (pi: ExtensionAPI, ctx: { ui: Ui }) => Promise<unknown>][] = [
  ["ctx.ui.select", (_pi, { ui }) => ui.select("t", [])],
  ["ctx.ui.confirm", (_pi, { ui }) => ui.confirm("t", "m")],
  ["ctx.ui.input", (_pi, { ui }) => ui.input("t")],
  ["ctx.ui.editor", (_pi, { ui }) => ui.editor("t")],
  ["ctx.ui.custom", (_pi, { ui }) => ui.custom(() => ({ render: () => [] }))],
  ["pi.exec", (pi) => pi.exec("x", [])],
  ["pi.complete", (pi) => pi.complete({ purpose: "title", messages: [] })],
];

test.each(UNHURRIED)(
  "K13: the clock stands still while a handler waits in %s, and goes on afterwards",
  async (_what, wait) => {
    const answered = Promise.withResolvers<never>();
    const asked = Promise.withResolvers<void>();
    const ask = () => (asked.resolve(), answered.promise);
    const provider = scripted(calls(["1", "a"]), async function* () {
      await ask();
      yield [];
    });
    const asker = named("asker", (pi) => {
      pi.on("tool_call", async (_event, ctx) => {
        await wait(pi, ctx);
        await never();
      });
    });
    const ui = { select: ask, confirm: ask, input: ask, editor: ask, custom: ask, notify: () => {} };
    const agent = createAgent({
      extensions: [provider, tool("a", () => "ran"), asker],
      host: { ui: ui as never, exec: ask as never },
    });
    const faults = lateOf(agent);
    const done = prompt(agent);
    await asked.promise;
    await vi.advanceTimersByTimeAsync(600_000);
    expect(faults).toEqual([]);
    answered.resolve(undefined as never);
    await vi.advanceTimersByTimeAsync(29_000);
    expect(faults).toEqual([]);
    await vi.advanceTimersByTimeAsync(2_000);
    await done;
    expect(faults).toEqual(["asker tool_call hook_late"]);
  },
);

test("K13: the clock of one handler goes on while another one waits for a person", async () => {
  const answered = Promise.withResolvers<boolean>();
  const asked = Promise.withResolvers<void>();
  const asker = handles("asker", "tool_result", async (event: { toolCallId: string }, ctx: { ui: Ui }) => {
    if (event.toolCallId === "1") await ctx.ui.confirm("t", "m");
    else await never();
  });
  const ui = { confirm: () => (asked.resolve(), answered.promise), notify: () => {} };
  const agent = createAgent({
    extensions: [scripted(calls(["1", "a"], ["2", "a"])), tool("a"), asker],
    host: { ui: ui as never },
  });
  const faults = lateOf(agent);
  const done = prompt(agent);
  await asked.promise;
  await vi.advanceTimersByTimeAsync(31_000);
  expect(faults).toEqual(["asker tool_result hook_late"]);
  answered.resolve(true);
  await done;
  expect(faults).toHaveLength(1);
});

test("K13: handlers that answer at once cost no timer", async () => {
  const setInterval = vi.spyOn(globalThis, "setInterval");
  const setTimeout = vi.spyOn(globalThis, "setTimeout");
  const hooks: HookName[] = [
    "turn_start",
    "before_turn",
    "context",
    "message_end",
    "tool_call",
    "tool_result",
    "turn_end",
  ];
  const quick = named("quick", (pi) => {
    for (const hook of hooks) pi.on(hook, () => {});
  });
  await prompt(createAgent({ extensions: [scripted(calls(["1", "a"])), tool("a"), quick] }));
  expect(setInterval).not.toHaveBeenCalled();
  expect(setTimeout).not.toHaveBeenCalled();
});

test("K13: many handlers that are waited for share one timer", async () => {
  const setInterval = vi.spyOn(globalThis, "setInterval");
  const setTimeout = vi.spyOn(globalThis, "setTimeout");
  const slow = named("slow", (pi) => {
    for (let i = 0; i < 5; i++) pi.on("tool_result", async () => {});
  });
  const many = Array.from({ length: 20 }, (_, i): [string, string] => [String(i), "a"]);
  await prompt(createAgent({ extensions: [scripted(calls(...many)), tool("a"), slow] }));
  expect(setInterval.mock.calls.length + setTimeout.mock.calls.length).toBeLessThan(20);
  expect(vi.getTimerCount()).toBe(0);
});
