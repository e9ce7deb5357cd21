import { type Agent, createAgent, type Extension, type Host, type Json, type Ui } from "@pi-agent/kernel";
import { assertValidForStrictProvider, fakeClock, recordEvents } from "@pi-agent/testing";
import { afterEach, expect, test } from "vitest";
import retry, { type RetryOptions } from "../src/index.ts";
import { call, fails, playing, prompt, say } from "./scripted.ts";

const SOON: RetryOptions = { baseDelayMs: 0 };
const BUSY = fails({ kind: "overloaded" });

const agents: Agent[] = [];
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.dispose();
});

async function start(given: {
  provider: Extension;
  options?: RetryOptions;
  more?: Extension[];
  settings?: Record<string, Json>;
  host?: Partial<Host>;
}) {
  const { provider, options, more = [], settings = {}, host } = given;
  const shown: string[] = [];
  const told: string[] = [];
  const ui = {
    setStatus: (key: string, text = "-") => void shown.push(`${key}: ${text}`),
    notify: (text: string) => void told.push(text),
  } as unknown as Ui;
  const agent = createAgent({
    extensions: [[retry, options], provider, ...more],
    host: { ui, settings: { get: (key) => settings[key], set: async () => {}, onChange: () => () => {} }, ...host },
    graceMs: 50,
  });
  agents.push(agent);
  await agent.ready();
  const recorded = recordEvents(agent);
  const retries = () =>
    recorded.events.filter(({ type }) => type.startsWith("auto_retry")) as unknown as Record<string, unknown>[];
  return { agent, shown, told, retries, recorded };
}

const echo: Extension = (pi) => {
  pi.registerTool({
    name: "echo",
    description: "Answers.",
    parameters: { type: "object" },
    execute: async () => ({ content: [{ type: "text", text: "ok" }] }),
  });
};

test("a failure that may pass is tried again until the model answers, and the run is one", async () => {
  const provider = playing(BUSY, BUSY, say("Here."));
  const { agent, retries, recorded } = await start({ provider, options: SOON });
  await prompt(agent);
  expect(agent.transcript.project().at(-1)).toMatchObject({ content: [{ text: "Here." }] });
  expect(retries().filter(({ type }) => type === "auto_retry_start")).toMatchObject([
    { attempt: 1, maxAttempts: 3, delayMs: 0, errorMessage: "It failed with overloaded." },
    { attempt: 2, maxAttempts: 3 },
  ]);
  expect(recorded.types().filter((type) => type === "agent_settled")).toHaveLength(1);
});

test("when the budget is used up the run ends with the failure, and its last words", async () => {
  const provider = playing(...Array.from({ length: 9 }, () => BUSY));
  const { agent, told } = await start({ provider, options: SOON });
  const { outcome, messages } = await agent.run("Go.");
  expect(outcome).toBe("error");
  expect(told).toEqual(["The call has failed 4 times, and is not tried again."]);
  expect(provider.requests).toHaveLength(4);
  expect(messages.at(-1)).toMatchObject({ stopReason: "error", errorMessage: "It failed with overloaded." });
});

test("the budget is whole again after an answer", async () => {
  const provider = playing(BUSY, BUSY, BUSY, call("echo"), BUSY, BUSY, BUSY, say("Here."));
  const { agent } = await start({ provider, options: SOON, more: [echo] });
  expect(await agent.run("Go.")).toMatchObject({ outcome: "done", answer: "Here." });
});

test("a failure that stays ends the run at its first attempt, and is left to other packages", async () => {
  for (const kind of ["auth", "quota", "invalid_request", "content_filter", "context_overflow", "unknown"] as const) {
    const asked: string[] = [];
    const other: Extension = (pi) =>
      void pi.on("provider_error", ({ message }) => void asked.push(message.failure!.kind));
    const provider = playing(fails({ kind }));
    const { agent, retries } = await start({ provider, options: SOON, more: [other] });
    expect((await agent.run("Go.")).outcome).toBe("error");
    expect([provider.requests.length, asked, retries()]).toEqual([1, [kind], []]);
  }
});

test("failed attempts stay in the record and are hidden from the model, as Pi hides them", async () => {
  const provider = playing(fails({ kind: "network" }, [{ type: "text", text: "Half a sen" }]), say("Whole."));
  const { agent } = await start({ provider, options: SOON });
  await prompt(agent);
  const path = agent.transcript.path();
  const failed = path.find((entry) => entry.type === "message" && entry.message.role === "assistant")!;
  expect(failed).toMatchObject({ message: { stopReason: "error", content: [{ text: "Half a sen" }] } });
  expect(path.filter(({ type }) => type === "context_edit")).toMatchObject([
    { targetId: failed.id, replacement: null },
  ]);
  expect(provider.requests[1]!.messages).toMatchObject([{ role: "user" }]);
});

test("K7: an attempt that was cut off in the middle of its calls leaves no call behind, and runs none", async () => {
  const ran: string[] = [];
  const tool: Extension = (pi) => {
    pi.registerTool({
      name: "echo",
      description: "Answers.",
      parameters: { type: "object" },
      execute: async (id) => {
        ran.push(id);
        return { content: [{ type: "text", text: "ok" }] };
      },
    });
  };
  const cut = fails({ kind: "network" }, [
    { type: "text", text: "I look." },
    { type: "toolCall", id: "call_1", name: "echo", arguments: { half: true } },
    { type: "toolCall", id: "call_2", name: "echo", arguments: {} },
  ]);
  const provider = playing(cut, call("echo"), cut, cut, cut, cut);
  const { agent } = await start({ provider, options: SOON, more: [tool] });
  expect((await agent.run("Go.")).outcome).toBe("error");
  expect(ran).toEqual(["call_1"]);
  for (const { messages } of provider.requests) assertValidForStrictProvider(messages);
  expect(provider.requests.at(-1)!.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult"]);
});

test("the countdown is shown each second, and taken away when it is over", async () => {
  using clock = fakeClock();
  const { agent, shown } = await start({ provider: playing(BUSY), options: { baseDelayMs: 3_000 } });
  await agent.input("Go.");
  await clock.advance(0);
  const seen = [shown.length];
  for (let second = 0; second < 3; second++) {
    await clock.advance(1_000);
    seen.push(shown.length);
  }
  await agent.settled();
  expect(seen[0]).toBe(1);
  expect(shown.at(0)).toMatch(/^retry: Retry 1 of 3 in 3 s$/);
  expect(shown).toContain("retry: Retry 1 of 3 in 2 s");
  expect(shown.at(-1)).toBe("retry: -");
  expect(shown.filter((text) => text === "retry: -")).toHaveLength(1);
});

test("F133: an abort ends the wait at once, and the countdown with it", async () => {
  using clock = fakeClock();
  const provider = playing(BUSY);
  const { agent, shown, retries } = await start({ provider, options: { baseDelayMs: 50_000 } });
  await agent.input("Go.");
  await clock.advance(0);
  expect(agent.state.activity).toBe("retrying");
  await agent.abort();
  expect(agent.state.activity).toBe("idle");
  expect(provider.requests).toHaveLength(1);
  expect(shown.at(-1)).toBe("retry: -");
  expect(retries().at(-1)).toMatchObject({ type: "auto_retry_end", success: false, finalError: "Retry cancelled" });
});

test("a message that is steered while it waits enters with the next try (F134)", async () => {
  using clock = fakeClock();
  const provider = playing(BUSY);
  const { agent } = await start({ provider, options: { baseDelayMs: 1_000 } });
  await agent.input("Go.");
  await clock.advance(0);
  agent.steer("And hurry.");
  await clock.advance(1_000);
  await agent.settled();
  expect(provider.requests[1]!.messages.map(({ content }) => content)).toEqual(["Go.", "And hurry."]);
});

test("a service that asks for too long a wait fails at once, with words that say so", async () => {
  const provider = playing(fails({ kind: "rate_limit", status: 429, retryAfterMs: 300_000 }));
  const { agent, retries } = await start({ provider });
  const { outcome, messages } = await agent.run("Go.");
  expect([outcome, provider.requests.length, retries()]).toEqual(["error", 1, []]);
  expect(messages.at(-1)).toMatchObject({
    failure: { kind: "rate_limit", retryAfterMs: 300_000 },
    errorMessage: expect.stringContaining("asks to wait 300 s, and at most 60 s are waited"),
  });
});

test("the wait that a service asks for is waited", async () => {
  using clock = fakeClock();
  const provider = playing(fails({ kind: "rate_limit", retryAfterMs: 30_000 }));
  const { agent } = await start({ provider });
  await agent.input("Go.");
  await clock.advance(29_900);
  expect(provider.requests).toHaveLength(1);
  await clock.advance(700);
  await agent.settled();
  expect(provider.requests).toHaveLength(2);
});

test("settings count from the next failure on, options come before them, rubbish is no setting", async () => {
  const settings: Record<string, Json> = { "retry.enabled": false, "retry.baseDelayMs": 0 };
  const provider = playing(BUSY, BUSY, BUSY, BUSY, say("Here."));
  const { agent } = await start({ provider, settings });
  await prompt(agent);
  expect(provider.requests).toHaveLength(1);
  settings["retry.enabled"] = true;
  settings["retry.maxRetries"] = 1;
  await prompt(agent);
  expect(provider.requests).toHaveLength(3);
  settings["retry.maxRetries"] = "many";
  await prompt(agent);
  expect(agent.transcript.project().at(-1)).toMatchObject({ content: [{ text: "Here." }] });

  const strict = playing(BUSY, BUSY);
  const other = await start({ provider: strict, settings, options: { maxRetries: 0 } });
  await prompt(other.agent);
  expect(strict.requests).toHaveLength(1);
});

test("options that cannot be are refused when it is configured", async () => {
  const { agent } = await start({ provider: playing(), options: { maxRetries: -1 } });
  expect(agent.extensions[0]).toMatchObject({ state: "failed", error: { code: "invalid_options" } });
});
