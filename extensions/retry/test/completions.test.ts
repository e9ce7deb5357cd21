import { type Agent, type AssistantMessage, createAgent, type Extension, type ExtensionAPI } from "@pi-agent/kernel";
import { fakeClock, recordEvents } from "@pi-agent/testing";
import { afterEach, expect, test } from "vitest";
import retry, { type RetryOptions } from "../src/index.ts";
import { fails, playing, say } from "./scripted.ts";

const BUSY = fails({ kind: "overloaded" }, [{ type: "text", text: "Half" }]);

const agents: Agent[] = [];
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.dispose();
});

async function start(answers: AssistantMessage[], options: RetryOptions = { baseDelayMs: 0 }) {
  let api!: ExtensionAPI;
  const caller: Extension = (pi) => {
    api = pi;
  };
  const provider = playing(...answers);
  const agent = createAgent({ extensions: [[retry, options], provider, caller] });
  agents.push(agent);
  await agent.ready();
  const { events } = recordEvents(agent);
  const summarize = (signal?: AbortSignal) =>
    api.complete({ messages: [{ role: "user", content: "Sum up.", timestamp: 0 }], purpose: "compaction", signal });
  const told = () => events.filter(({ type }) => type.startsWith("summarization"));
  return { agent, provider, summarize, told };
}

test("a completion is tried again, and tells so in Pi's events", async () => {
  const { provider, summarize, told } = await start([BUSY, BUSY, say("A summary.")]);
  expect(await summarize()).toMatchObject({ stopReason: "stop", content: [{ text: "A summary." }] });
  expect(provider.requests).toHaveLength(3);
  const scheduled = { type: "summarization_retry_scheduled", maxAttempts: 3, delayMs: 0 };
  const begun = { type: "summarization_retry_attempt_start", source: "compaction" };
  expect(told()).toEqual([
    { ...scheduled, attempt: 1, errorMessage: "It failed with overloaded." },
    begun,
    { ...scheduled, attempt: 2, errorMessage: "It failed with overloaded." },
    begun,
    { type: "summarization_retry_finished" },
  ]);
});

test("a completion has the same budget, and at its end the failure is its answer", async () => {
  const { provider, summarize, told } = await start(Array.from({ length: 9 }, () => BUSY));
  expect(await summarize()).toMatchObject({ stopReason: "error", failure: { kind: "overloaded" } });
  expect(provider.requests).toHaveLength(4);
  expect(told().at(-1)).toEqual({ type: "summarization_retry_finished" });
});

test("a completion that works, and one whose failure stays, are made once and tell nothing", async () => {
  const { provider, summarize, told } = await start([say("At once."), fails({ kind: "auth" })]);
  expect((await summarize()).stopReason).toBe("stop");
  expect((await summarize()).failure).toEqual({ kind: "auth" });
  expect([provider.requests.length, told()]).toEqual([2, []]);
});

test("a completion that is to wait too long says so", async () => {
  const { summarize } = await start([fails({ kind: "rate_limit", retryAfterMs: 90_000 })]);
  expect((await summarize()).errorMessage).toContain("asks to wait 90 s");
});

test("an abort, and an unloading, end the wait at once", async () => {
  using clock = fakeClock();
  const { agent, provider, summarize, told } = await start([BUSY, BUSY], { baseDelayMs: 50_000 });
  const controller = new AbortController();
  const aborted = summarize(controller.signal);
  await clock.advance(1_000);
  controller.abort();
  expect((await aborted).stopReason).toBe("aborted");
  expect(told().at(-1)).toEqual({ type: "summarization_retry_finished" });

  const left = summarize();
  await clock.advance(1_000);
  const owner = agent.extensions[0]!.owner.name;
  await agent.unload(owner);
  expect((await left).stopReason).toBe("error");
  expect(provider.requests).toHaveLength(2);
});
