import { expect, test } from "vitest";
import { type Agent, type AgentOptions, createAgent, type Entry, type ExtensionAPI } from "../src/index.ts";
import { faultsOf, handles, named, prompt } from "./named.ts";
import { calls, gate, model, scripted, text, tool, whole } from "./scripted.ts";

/** An extension whose command `/make` makes a child, and what it made. */
function maker(options: AgentOptions = {}) {
  const made = Promise.withResolvers<Agent>();
  const extension = named("maker", (pi) => {
    pi.registerCommand("make", { handler: (_args, ctx) => made.resolve(ctx.createAgent(options)) });
  });
  return { extension, made: made.promise };
}

/** A provider that answers nothing until its signal fires. */
function waiting(asked: { open(): void }) {
  return async function* ({ signal }: { signal: AbortSignal }) {
    asked.open();
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    yield whole(text("", { stopReason: "error", errorMessage: "stopped" }));
  };
}

test("C1: a child's own api is used before its parent's of the same name", async () => {
  const { extension, made } = maker({ model, extensions: [scripted(text("the child's"))] });
  const agent = createAgent({ extensions: [scripted(text("the parent's")), extension] });
  await agent.input("/make");
  const child = await made;
  expect((await child.run("q")).answer).toBe("the child's");
  expect((await agent.run("q")).answer).toBe("the parent's");
});

test.each<[string, (agent: Agent) => Promise<unknown>]>([
  ["the extension that made it is unloaded", (agent) => agent.unload("maker")],
  ["its parent is disposed of", (agent) => agent.dispose()],
])("C2: a child ends when %s", async (_when, end) => {
  const cleaned = gate();
  const { extension, made } = maker({ extensions: [named("kid", (pi) => pi.onDispose(() => cleaned.open()))] });
  const agent = createAgent({ extensions: [scripted(), extension] });
  await agent.input("/make");
  const child = await made;
  await child.ready();
  await end(agent);
  await cleaned.promise;
  await expect(child.run("q")).rejects.toMatchObject({ code: "disposed" });
});

test("C2: a child that the host made ends when its parent is disposed of", async () => {
  const agent = createAgent({ extensions: [scripted()] });
  let child: Agent | undefined;
  agent.on("agent_start", (_event, ctx) => void (child ??= ctx.createAgent({})));
  await prompt(agent);
  await agent.dispose();
  await expect(child?.run("q")).rejects.toMatchObject({ code: "disposed" });
});

test("C2: a child outlives the unloading of an extension that did not make it", async () => {
  const { extension, made } = maker();
  const agent = createAgent({ extensions: [scripted(), extension, named("other", () => {})] });
  await agent.input("/make");
  const child = await made;
  await child.ready();
  await agent.unload("other");
  expect((await child.run("q")).outcome).toBe("done");
});

test("C3: its parent's abort reaches a running child that was made outside the run", async () => {
  const asked = { child: gate(), parent: gate() };
  const { extension, made } = maker({ model, extensions: [scripted(waiting(asked.child))] });
  const agent = createAgent({ extensions: [scripted(waiting(asked.parent)), extension] });
  await agent.input("/make");
  const running = (await made).run("q");
  await asked.child.promise;
  await agent.input("go");
  await asked.parent.promise;
  await agent.abort();
  expect((await running).outcome).toBe("aborted");
});

test("C3: the abort of an idle parent reaches a running child", async () => {
  const asked = gate();
  const { extension, made } = maker({ model, extensions: [scripted(waiting(asked))] });
  const agent = createAgent({ extensions: [scripted(), extension] });
  await agent.input("/make");
  const running = (await made).run("q");
  await asked.promise;
  await agent.abort();
  expect((await running).outcome).toBe("aborted");
}, 1_000);

test("C4: what goes wrong in a child is told to its parent's listeners", async () => {
  const bad = handles("bad", "turn_start", () => JSON.parse("{"));
  const { extension, made } = maker({ extensions: [bad] });
  const agent = createAgent({ extensions: [scripted(), extension] });
  const faults = faultsOf(agent);
  await agent.input("/make");
  await (await made).run("q");
  expect(faults).toEqual([expect.stringMatching(/^bad turn_start /)]);
});

function completer() {
  let pi: ExtensionAPI | undefined;
  const extension = named("completes", (api) => void (pi = api));
  const ask = () => pi!.complete({ messages: [{ role: "user", content: "q", timestamp: 1 }], purpose: "title" });
  return { extension, ask };
}

test("C5: pi.complete ends when its extension is unloaded", async () => {
  const asked = gate();
  const { extension, ask } = completer();
  const agent = createAgent({ extensions: [scripted(waiting(asked)), extension] });
  await agent.ready();
  const completing = ask();
  await asked.promise;
  await agent.unload("completes");
  expect((await completing).stopReason).toBe("aborted");
});

test("C5: pi.complete ends with the abort of the run that it was asked in", async () => {
  const asked = gate();
  const { extension, ask } = completer();
  let stopReason: string | undefined;
  const asks = tool("t", async () => ({ content: [], details: (stopReason = (await ask()).stopReason) }));
  const agent = createAgent({ extensions: [scripted(calls(["1", "t"]), waiting(asked)), extension, asks] });
  await agent.input("go");
  await asked.promise;
  await agent.abort();
  expect(stopReason).toBe("aborted");
});

test("C6: stored entries whose parents lead in a circle do not hang path() or a prompt", async () => {
  const entry = (id: string, parentId: string): Entry => ({
    type: "message",
    id,
    parentId,
    timestamp: "2026-01-01T00:00:00.000Z",
    message: { role: "user", content: id, timestamp: 1 },
  });
  const agent = createAgent({ entries: [entry("a", "b"), entry("b", "a")], extensions: [scripted(text("x"))] });
  await agent.ready();
  expect(agent.transcript.path().length).toBeLessThanOrEqual(2);
  await prompt(agent);
  expect(agent.transcript.project().at(-1)?.role).toBe("assistant");
});
