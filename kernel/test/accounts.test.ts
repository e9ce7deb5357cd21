import { afterEach, expect, test, vi } from "vitest";
import { type Agent, createAgent, type ExtensionReport, type Ui } from "../src/index.ts";
import { faultsOf, handles, named, prompt } from "./named.ts";
import { calls, scripted, text, tool } from "./scripted.ts";

afterEach(() => {
  vi.useRealTimers();
});

const reportOf = (agent: Agent, name: string): ExtensionReport =>
  agent.extensions.find(({ owner }) => owner.name === name)!;

/** Keeps the thread busy, as a slow handler does. */
function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test("E6: an account tells how long the factory took, also when it failed", async () => {
  const wait = () => new Promise<void>((resolve) => setTimeout(resolve, 20));
  const slow = named("slow", wait);
  const failing = named("failing", async () => {
    await wait();
    throw new Error("no");
  });
  const agent = createAgent({ extensions: [slow, failing, named("quick", () => {})] });
  await agent.ready();
  expect(reportOf(agent, "slow").loadMs).toBeGreaterThan(10);
  expect(reportOf(agent, "failing").loadMs).toBeGreaterThan(10);
  expect(reportOf(agent, "quick").loadMs).toBeLessThan(reportOf(agent, "slow").loadMs);
});

test("E6: an account counts the time in handlers, each owner's its own, and goes on counting", async () => {
  const busy = handles("busy", "turn_start", () => work(10));
  const waits = handles("waits", "turn_start", () => new Promise((resolve) => setTimeout(resolve, 20)));
  const agent = createAgent({ extensions: [scripted(), busy, waits, handles("idle", "turn_start", () => {})] });
  await prompt(agent);
  const first = reportOf(agent, "busy").hookMs;
  expect(first).toBeGreaterThanOrEqual(9);
  expect(reportOf(agent, "waits").hookMs).toBeGreaterThan(10);
  expect(reportOf(agent, "idle").hookMs).toBeLessThan(first);
  await prompt(agent);
  expect(reportOf(agent, "busy").hookMs).toBeGreaterThanOrEqual(first + 9);
});

test("E6: an account counts the tokens that sections and tools add to the prompt", async () => {
  const section = (length: number) =>
    named(
      `section ${length}`,
      (pi) => void pi.register("section", `s${length}`, { slot: "rules", text: "x".repeat(length) }),
    );
  const agent = createAgent({
    extensions: [scripted(), section(400), section(4_000), named("tools", tool("a")), named("nothing", () => {})],
  });
  await prompt(agent);
  const tokens = (name: string) => reportOf(agent, name).promptTokens;
  expect(tokens("section 400")).toBeGreaterThanOrEqual(100);
  expect(tokens("section 400")).toBeLessThan(150);
  expect(tokens("section 4000")).toBeGreaterThanOrEqual(1_000);
  expect(tokens("tools")).toBeGreaterThan(5);
  expect(tokens("nothing")).toBe(0);
  await prompt(agent, "again");
  expect(tokens("section 400"), "it is what it adds, not a sum over runs").toBeLessThan(150);
});

test("E6: an account counts errors: of the factory, of handlers, of what is late, and of nobody else", async () => {
  const bad = named("bad", (pi) => {
    pi.on("turn_start", () => {
      throw new Error("no");
    });
    pi.on("turn_end", () => Promise.reject(new Error("no")));
    pi.on("context", () => ({ messages: 7 }) as never);
  });
  const failing = named("failing", () => {
    throw new Error("no");
  });
  const agent = createAgent({ extensions: [scripted(), bad, failing, named("good", tool("a"))] });
  await prompt(agent);
  expect(reportOf(agent, "bad").errors).toBe(3);
  expect(reportOf(agent, "failing").errors).toBe(1);
  expect(reportOf(agent, "good").errors).toBe(0);
});

test("E6: a handler that takes 250 ms is reported once with its owner and its hook, and a quicker one is not", async () => {
  const slow = handles("slow", "turn_start", () => work(260));
  const waits = handles("waits", "before_turn", () => new Promise((resolve) => setTimeout(resolve, 400)));
  const quick = handles("quick", "turn_start", () => {});
  const agent = createAgent({ extensions: [scripted(), slow, waits, quick] });
  const faults = faultsOf(agent);
  for (let i = 0; i < 4; i++) await prompt(agent);
  expect(faults.toSorted()).toEqual(["slow turn_start hook_slow", "waits before_turn hook_slow"]);
  expect(reportOf(agent, "slow").slow).toEqual(["turn_start"]);
  expect(reportOf(agent, "waits").slow).toEqual(["before_turn"]);
  expect(reportOf(agent, "quick").slow).toEqual([]);
  expect(reportOf(agent, "slow").errors, "slow is no error").toBe(0);
});

test("E6: time that a handler waits for a person does not make it slow", async () => {
  const asks = handles("asks", "tool_call", async (_event: never, ctx: { ui: Ui }) => {
    await ctx.ui.confirm("t", "m");
  });
  const ui = { confirm: () => new Promise<boolean>((resolve) => setTimeout(resolve, 400, true)), notify: () => {} };
  const agent = createAgent({ extensions: [scripted(calls(["1", "a"])), tool("a"), asks], host: { ui: ui as never } });
  const faults = faultsOf(agent);
  for (let i = 0; i < 2; i++) await prompt(agent);
  expect(faults).toEqual([]);
  expect(reportOf(agent, "asks").slow).toEqual([]);
});

test("E6: an account says what became of an extension, in the order of loading", async () => {
  const failing = named("failing", () => {
    throw new Error("no");
  });
  const agent = createAgent({ extensions: [named("a", tool("a")), failing, named("b", tool("b"))] });
  await agent.ready();
  expect(agent.extensions.map(({ owner, state }) => `${owner.name} ${state}`)).toEqual([
    "a loaded",
    "failing failed",
    "b loaded",
  ]);
  const [a] = agent.extensions;
  await agent.unload("a");
  expect(a?.state).toBe("unloaded");
  expect(agent.extensions.map(({ owner }) => owner.name)).not.toContain("a");
});

test("K13: what a handler is slow in is told, and the answer still counts", async () => {
  const provider = scripted(text("ok"));
  const slow = handles("slow", "before_agent_start", () => (work(260), { systemPrompt: "slowly" }));
  await prompt(createAgent({ extensions: [provider, slow] }));
  expect(provider.requests[0]?.systemPrompt).toBe("slowly");
});
