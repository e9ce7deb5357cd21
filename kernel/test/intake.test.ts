import { afterEach, expect, test, vi } from "vitest";
import { createAgent } from "../src/index.ts";
import { faultsOf, handles, named, prompt } from "./named.ts";
import { failure, gate, scripted, text, whole } from "./scripted.ts";

afterEach(() => {
  vi.useRealTimers();
});

const expands = (expand: () => Promise<string>) =>
  named("expands", (pi) => void pi.registerCommand("c", { expand } as never));

test.each(["starting", "ready"])("I1: an abort right after a prompt of an agent that is %s ends it", async (when) => {
  const provider = scripted(text("x"));
  const agent = createAgent({ extensions: [provider] });
  if (when === "ready") await agent.ready();
  const input = agent.input("go");
  const [, ended] = await Promise.all([agent.abort(), input.catch((thrown: unknown) => thrown)]);
  await agent.settled();
  expect(ended).toMatchObject({ code: "aborted" });
  expect(provider.requests).toHaveLength(0);
});

/** A provider that answers when it is told to, whatever its signal says. */
function slow() {
  const started = gate();
  const ends = gate();
  const stream = async function* () {
    started.open();
    await ends.promise;
    yield whole(text("x"));
  };
  return { started: started.promise, end: () => ends.open(), stream };
}

test("I1: an abort while an input handler works ends the prompt", async () => {
  const asked = gate();
  const answers = gate();
  const provider = scripted(text("x"));
  const late = handles("late", "input", () => (asked.open(), answers.promise));
  const agent = createAgent({ extensions: [provider, late] });
  const input = agent.input("go").catch((thrown: unknown) => thrown);
  await asked.promise;
  await agent.abort();
  answers.open();
  expect(await input).toMatchObject({ code: "aborted" });
  await agent.settled();
  expect(provider.requests).toHaveLength(0);
});

test("I2: a command that does not expand within 30 s fails its prompt with its name, and the next one works", async () => {
  vi.useFakeTimers();
  const provider = scripted(text("x"));
  const agent = createAgent({ extensions: [provider, expands(() => new Promise(() => {}))] });
  await agent.ready();
  const input = agent.input("/c x").catch((thrown: unknown) => thrown);
  await vi.advanceTimersByTimeAsync(30_100);
  expect(await input).toMatchObject({ code: "hook_late", owner: "expands", message: expect.stringContaining("/c") });
  await prompt(agent);
  expect(provider.requests).toHaveLength(1);
});

test("I2: an abort ends a prompt whose command does not expand at once, and the next one works", async () => {
  const asked = gate();
  const provider = scripted(text("x"));
  const agent = createAgent({ extensions: [provider, expands(() => (asked.open(), new Promise(() => {})))] });
  const input = agent.input("/c x").catch((thrown: unknown) => thrown);
  await asked.promise;
  await agent.abort();
  expect(await input).toMatchObject({ code: "aborted" });
  await prompt(agent);
  expect(provider.requests).toHaveLength(1);
  await agent.unload("expands");
});

const hangingSection = (render: () => Promise<string>) =>
  named("s", (pi) => void pi.register("section", "part", { slot: "rules", text: render }));

test("I3: a section of the prompt that hangs is left out after 30 s and reported", async () => {
  vi.useFakeTimers();
  const provider = scripted(text("x"));
  const agent = createAgent({ extensions: [provider, hangingSection(() => new Promise(() => {}))] });
  const faults = faultsOf(agent);
  await agent.input("go");
  await vi.advanceTimersByTimeAsync(30_100);
  await agent.settled();
  expect(faults).toEqual(["s section:part hook_late"]);
  expect(provider.requests[0]?.systemPrompt).not.toContain("part");
});

test("I3: unloading its extension frees a run that waits for a section of the prompt", async () => {
  const asked = gate();
  const provider = scripted(text("x"));
  const agent = createAgent({ extensions: [provider, hangingSection(() => (asked.open(), new Promise(() => {})))] });
  const faults = faultsOf(agent);
  await agent.input("go");
  await asked.promise;
  await agent.unload("s");
  await agent.settled();
  expect(faults).toEqual(["s section:part abandoned"]);
  expect(provider.requests).toHaveLength(1);
});

test("I4: an extension that always follows up can be aborted: what it queued comes back, and nothing starts", async () => {
  const first = slow();
  const provider = scripted(first.stream);
  const again = named("again", (pi) => {
    pi.on("agent_end", () => pi.sendUserMessage("again", { deliverAs: "followUp" }));
  });
  const agent = createAgent({ extensions: [provider, again] });
  await agent.input("go");
  await first.started;
  const aborting = agent.abort();
  first.end();
  expect((await aborting).followUp).toMatchObject([{ content: "again" }]);
  await agent.settled();
  expect(provider.requests).toHaveLength(1);
});

test("I5: a prompt that comes while an abort is under way runs after it", async () => {
  const first = slow();
  const agent = createAgent({ extensions: [scripted(first.stream, text("second"))] });
  await agent.input("one");
  await first.started;
  const aborting = agent.abort();
  const input = agent.input("two");
  first.end();
  expect(await aborting).toEqual({ steering: [], followUp: [] });
  expect(await input).toBe("started");
  await agent.settled();
  expect(agent.transcript.project().at(-1)).toMatchObject({ content: [{ text: "second" }] });
});

test.each(["input", "run", "continue", "extend"] as const)("I6: %s fails after disposal", async (method) => {
  const provider = scripted(text("x"));
  const agent = createAgent({ extensions: [provider], model: "scripted/scripted" });
  await agent.ready();
  agent.append([{ type: "message", message: { role: "user", content: "q", timestamp: 1 } }]);
  await agent.dispose();
  const calling = agent[method] as (given: unknown) => Promise<unknown>;
  await expect(calling.call(agent, method === "extend" ? [] : "q")).rejects.toMatchObject({ code: "disposed" });
});

test("I6: a prompt that is with its input handlers when disposal begins starts nothing", async () => {
  const asked = gate();
  const answers = gate();
  const provider = scripted(text("x"));
  const late = handles("late", "input", () => (asked.open(), answers.promise));
  const agent = createAgent({ extensions: [provider, late] });
  const input = agent.input("go").catch((thrown: unknown) => thrown);
  await asked.promise;
  const disposing = agent.dispose();
  answers.open();
  await disposing;
  expect(await input).toMatchObject({ code: "disposed" });
  expect(provider.requests).toHaveLength(0);
});

/** An extension whose copies, numbered as they are loaded, tell of themselves. */
function copied(hits: string[], count = { copies: 0 }) {
  return named("copied", async (pi) => {
    const copy = ++count.copies;
    await new Promise(setImmediate);
    pi.on("turn_end", () => void hits.push(`copy ${copy}`));
    pi.onDispose(() => void hits.push(`disposed ${copy}`));
  });
}

test("I7: of two replacements that are asked for at once one copy is left", async () => {
  const hits: string[] = [];
  const entry = copied(hits);
  const agent = createAgent({ extensions: [scripted(text("x")), entry] });
  await agent.ready();
  await Promise.all([agent.extend([entry], { replace: true }), agent.extend([entry], { replace: true })]);
  await prompt(agent);
  await agent.dispose();
  expect(hits).toEqual(["disposed 1", "disposed 2", "copy 3", "disposed 3"]);
});

test("I7: disposal ends what a pending extend brings", async () => {
  const goesOn = gate();
  const hits: string[] = [];
  const agent = createAgent();
  const late = named("late", async (pi) => {
    await goesOn.promise;
    pi.onDispose(() => void hits.push("cleaned"));
  });
  const extending = agent.extend([late]);
  const disposing = agent.dispose();
  await new Promise(setImmediate);
  goesOn.open();
  await Promise.all([extending, disposing]);
  expect(hits).toEqual(["cleaned"]);
});

test("I8: a retry that is to wait longer than a timer can waits, and does not fire at once", async () => {
  vi.useFakeTimers();
  const provider = scripted(failure("overloaded"), text("x"));
  const retry = handles("retry", "provider_error", () => ({ retry: { delayMs: 3e9, reason: "busy" } }));
  const agent = createAgent({ extensions: [provider, retry] });
  await agent.input("go");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(agent.state.activity).toBe("retrying");
  expect(provider.requests).toHaveLength(1);
  await agent.abort();
});
