import { getEventListeners } from "node:events";
import { afterEach, expect, test, vi } from "vitest";
import { type Context, createAgent, type HookName, type StreamEvent } from "../src/index.ts";
import { faultsOf, handles, named, prompt } from "./named.ts";
import { calls, failure, gate, outline, record, resultTexts, scripted, text, tool } from "./scripted.ts";

afterEach(() => {
  vi.useRealTimers();
});

const untilAborted = (signal: AbortSignal) =>
  new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("stopped"), { once: true }));

test("K9: an abort reaches the provider, every tool and every hook, with one reason", async () => {
  const signals = new Map<string, AbortSignal | undefined>();
  const hooks: HookName[] = ["before_turn", "context", "message_end", "tool_call", "tool_result", "turn_end"];
  const watcher = named("watcher", (pi) => {
    const look = ({ type }: { type: string }, ctx: Context) => void signals.set(type, ctx.signal);
    for (const hook of hooks) pi.on(hook, look as never);
  });
  const provider = scripted(calls(["1", "a"], ["2", "stop"]));
  const keep = tool("a", (_args, signal, ctx) => (signals.set("a", signal).set("a's context", ctx.signal), "ok"));
  const agent = createAgent({
    extensions: [provider, keep, tool("stop", () => (void agent.abort("Enough."), "ok")), watcher],
  });
  await prompt(agent);
  signals.set("request", provider.requests[0]?.signal);
  expect(signals.size).toBe(hooks.length + 3);
  for (const [where, signal] of signals) expect(signal?.reason, where).toMatchObject({ message: "Enough." });
});

test("K9: the signal's reason is what the abort was told", async () => {
  const started = gate();
  let reason: unknown;
  const wait = tool("wait", async (_args, signal) => {
    started.open();
    await untilAborted(signal);
    reason = signal.reason;
    return "ok";
  });
  const agent = createAgent({ extensions: [scripted(calls(["1", "wait"])), wait] });
  await agent.input("go");
  await started.promise;
  await agent.abort("Enough.");
  expect(reason).toMatchObject({ code: "aborted", message: "Enough." });
});

test("K9: the grace period is five seconds unless something else is asked for", async () => {
  vi.useFakeTimers();
  const started = gate();
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "deaf"])),
      named(
        "deaf",
        tool("deaf", () => (started.open(), new Promise(() => {}))),
      ),
    ],
  });
  const faults = faultsOf(agent);
  await agent.input("go");
  await started.promise;
  let isOver = false;
  const aborting = agent.abort().then(() => (isOver = true));
  await vi.advanceTimersByTimeAsync(4_990);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(10);
  await aborting;
  expect(faults).toEqual(["deaf tool abandoned"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("K9: an abort that everybody obeys leaves no timer running", async () => {
  vi.useFakeTimers();
  const started = gate();
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "wait"])),
      tool("wait", (_args, signal) => (started.open(), untilAborted(signal))),
    ],
  });
  await agent.input("go");
  await started.promise;
  await agent.abort();
  expect(vi.getTimerCount()).toBe(0);
  expect(agent.state.activity).toBe("idle");
});

test("K9: a retry's wait ends at once when the run is aborted, and leaves no timer", async () => {
  vi.useFakeTimers();
  const provider = scripted(failure("overloaded"));
  const retry = handles("retry", "provider_error", () => ({ retry: { delayMs: 3_600_000, reason: "busy" } }));
  const agent = createAgent({ extensions: [provider, retry] });
  const events = record(agent);
  const waiting = gate();
  agent.on("auto_retry_start", () => waiting.open());
  const running = agent.run("go");
  await waiting.promise;
  await vi.waitUntil(() => agent.state.activity === "retrying");
  await agent.abort();
  expect((await running).outcome).toBe("aborted");
  expect(events.filter(({ type }) => type === "auto_retry_end")).toMatchObject([{ success: false }]);
  expect(provider.requests).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});

test("K9: a tool that was given up tells no more progress", async () => {
  const started = gate();
  let late: ((partial: { content: [] }) => void) | undefined;
  const deaf = tool("deaf", (_args, _signal, _ctx, onUpdate) => {
    late = onUpdate;
    started.open();
    return new Promise(() => {});
  });
  const agent = createAgent({ extensions: [scripted(calls(["1", "deaf"])), deaf], graceMs: 1 });
  const events = record(agent);
  await agent.input("go");
  await started.promise;
  await agent.abort();
  late!({ content: [] });
  expect(outline(events).at(-1)).toBe("agent_settled");
});

test("F133 K9: a tool that rejects after it was given up is no unhandled rejection, and not part of the next turn", async () => {
  const started = gate();
  const late = Promise.withResolvers<string>();
  const agent = createAgent({
    extensions: [scripted(calls(["1", "deaf"]), text("next")), tool("deaf", () => (started.open(), late.promise))],
    graceMs: 1,
  });
  await agent.input("go");
  await started.promise;
  await agent.abort();
  const next = prompt(agent, "again");
  late.reject(new Error("late"));
  await next;
  expect(resultTexts(agent)["1"]).toContain("did not stop");
  expect(agent.transcript.project().at(-1)?.content).toEqual([{ type: "text", text: "next" }]);
});

test("F133 K9: a second abort, and one while idle, do nothing and do not throw", async () => {
  const started = gate();
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "wait"])),
      tool("wait", (_args, signal) => (started.open(), untilAborted(signal))),
    ],
  });
  const nothing = { steering: [], followUp: [] };
  expect(await agent.abort()).toEqual(nothing);
  await agent.input("go");
  await started.promise;
  agent.steer("s");
  const both = await Promise.all([agent.abort(), agent.abort("again")]);
  expect(both.flatMap(({ steering }) => steering.map(({ content }) => content))).toEqual(["s"]);
  expect(await agent.abort()).toEqual(nothing);
});

test("F133 K9: an abort before the first byte ends the call, and one in agent_start lets no call begin", async () => {
  const asked = gate();
  const silent = scripted(async function* ({ signal }): AsyncGenerator<readonly StreamEvent[]> {
    asked.open();
    await untilAborted(signal);
    yield [];
  });
  const agent = createAgent({ extensions: [silent] });
  const running = agent.run("go");
  await asked.promise;
  await agent.abort();
  expect((await running).outcome).toBe("aborted");

  const provider = scripted();
  const early = createAgent({ extensions: [provider] });
  early.on("agent_start", (_event, ctx) => ctx.abort());
  expect((await early.run("go")).outcome).toBe("aborted");
  expect(provider.requests).toHaveLength(0);
});

test("F133: a prompt right after an abort starts the next run", async () => {
  const started = gate();
  const provider = scripted(calls(["1", "wait"]));
  const agent = createAgent({
    extensions: [provider, tool("wait", (_args, signal) => (started.open(), untilAborted(signal)))],
  });
  await agent.input("go");
  await started.promise;
  const aborting = agent.abort();
  await agent.input("new");
  await aborting;
  await agent.settled();
  expect(provider.requests.at(-1)?.messages.filter(({ content }) => content === "new")).toHaveLength(1);
});

test("K9: no tool starts after an abort that came while the gates were asked, neither the one in question nor those before it", async () => {
  for (const list of [calls(["1", "a"]), calls(["1", "a"], ["2", "a"])]) {
    let runs = 0;
    const last = String(list.content.length);
    const agent = createAgent({
      extensions: [
        scripted(list),
        tool("a", () => `${++runs}`),
        handles("aborts", "tool_call", async (event: { toolCallId: string }, ctx: Context) => {
          await Promise.resolve();
          if (event.toolCallId === last) ctx.abort();
        }),
      ],
    });
    expect((await agent.run("go")).outcome).toBe("aborted");
    expect(runs).toBe(0);
    for (const said of Object.values(resultTexts(agent))) expect(said).toContain("aborted");
  }
});

test("K9: nothing is left listening on a run's signal, nor on the host's", async () => {
  const host = new AbortController();
  const signals: AbortSignal[] = [];
  const provider = scripted(failure("server"), calls(["1", "a"], ["2", "a"]));
  const retry = handles("retry", "provider_error", () => ({ retry: { delayMs: 0, reason: "busy" } }));
  const agent = createAgent({ extensions: [provider, tool("a"), retry], signal: host.signal });
  agent.on("agent_start", (_event, ctx) => void signals.push(ctx.signal!));
  for (let i = 0; i < 5; i++) await prompt(agent);
  expect(signals).toHaveLength(5);
  for (const signal of signals) expect(getEventListeners(signal, "abort")).toHaveLength(0);
  expect(getEventListeners(host.signal, "abort").length).toBeLessThanOrEqual(1);
  await agent.dispose();
  expect(getEventListeners(host.signal, "abort")).toHaveLength(0);
});

test("K9: the host's signal aborts the run, also when it had fired before the run began", async () => {
  const host = new AbortController();
  const started = gate();
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "wait"])),
      tool("wait", (_args, signal) => (started.open(), untilAborted(signal))),
    ],
    signal: host.signal,
  });
  const running = agent.run("go");
  await started.promise;
  host.abort();
  expect((await running).outcome).toBe("aborted");
  expect((await agent.run("again")).outcome).toBe("aborted");
});

test("F133 K9: disposing in mid-run aborts it, settles, and takes no prompt afterwards", async () => {
  const started = gate();
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "wait"])),
      tool("wait", (_args, signal) => (started.open(), untilAborted(signal))),
    ],
  });
  const events = record(agent);
  await agent.input("go");
  await started.promise;
  expect(await agent.dispose()).toEqual({ leaks: [] });
  expect(outline(events).at(-1)).toBe("agent_settled");
  await expect(agent.input("more")).rejects.toMatchObject({ code: "disposed" });
});
