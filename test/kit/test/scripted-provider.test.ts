import { createAgent, type Extension } from "@pi-agent/kernel";
import { afterEach, expect, test } from "vitest";
import { assertEventOrder, lastResults, recordEvents, type Script, scriptedProvider } from "../src/index.ts";

const disposals: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const dispose of disposals.splice(0)) await dispose();
});

const echo: Extension = (pi) => {
  pi.registerTool({
    name: "echo",
    description: "Says it again.",
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as never,
    execute: async (_id, args) => ({ content: [{ type: "text", text: (args as { text: string }).text }] }),
  });
};

async function startAgent(script: Script, ...extensions: Extension[]) {
  const provider = scriptedProvider(script);
  const agent = createAgent({ extensions: [provider, echo, ...extensions], model: "scripted/scripted" });
  disposals.push(() => agent.dispose());
  await agent.ready();
  return { agent, provider, recorded: recordEvents(agent) };
}

test("a scripted model calls tools in parallel, sees their results and answers, in the order of K2", async () => {
  const { agent, provider, recorded } = await startAgent([
    {
      thinking: "Both at once.",
      text: "I ask twice.",
      calls: [
        { name: "echo", arguments: { text: "one" } },
        { name: "echo", arguments: { text: "two" } },
      ],
    },
    { text: "All said." },
  ]);
  const { answer, outcome } = await agent.run("Say it.");
  expect({ answer, outcome, requests: provider.requests.length }).toEqual({
    answer: "All said.",
    outcome: "done",
    requests: 2,
  });
  assertEventOrder(recorded.events);
  expect(recorded.types().filter((type) => type === "tool_execution_end")).toHaveLength(2);
});

test("a function sees each request in neutral terms", async () => {
  const seen: unknown[] = [];
  const { agent } = await startAgent((request) => {
    const results = lastResults(request);
    seen.push(results.map((result) => result.text));
    return results.length > 0 ? { text: "done" } : { calls: [{ name: "echo", arguments: { text: "hi" } }] };
  });
  await agent.run("Go.");
  expect(seen).toEqual([[], ["hi"]]);
});

test("a failure becomes a typed error, a cut a network error, a hang ends with the abort", async () => {
  const { agent, recorded } = await startAgent([
    { fail: { status: 429 } },
    { text: "half of this", fail: "cut" },
    { text: "half of this", hangAfter: 2 },
  ]);
  expect((await agent.run("a")).outcome).toBe("error");
  expect((await agent.run("b")).outcome).toBe("error");
  agent.on("message_update", () => void agent.abort());
  expect((await agent.run("c")).outcome).toBe("aborted");
  const failures = recorded.events
    .filter((event) => event.type === "message_end")
    .flatMap((event) => (event.message as { failure?: { kind: string } }).failure?.kind ?? []);
  expect(failures).toEqual(["rate_limit", "network"]);
  assertEventOrder(recorded.events);
});

test("arguments that are no JSON, and those cut by length, are told to the model", async () => {
  const { agent, provider } = await startAgent([
    { calls: [{ name: "echo", arguments: "{text:" }] },
    { calls: [{ name: "echo", arguments: { text: "long" } }], stop: "length" },
    { text: "done" },
  ]);
  await agent.run("Go.");
  const results = provider.requests.at(-1)?.messages.filter((message) => message.role === "toolResult");
  expect(results?.map((result) => result.isError)).toEqual([true, true]);
});

test("recordEvents with all adds the hooks that do not travel, and stops when told", async () => {
  const provider = scriptedProvider(() => ({ text: "hi" }));
  const agent = createAgent({ extensions: [provider], model: "scripted/scripted" });
  disposals.push(() => agent.dispose());
  await agent.ready();
  const recorded = recordEvents(agent, { all: true });
  await agent.input("Go.");
  await agent.settled();
  expect(recorded.types()).toEqual(expect.arrayContaining(["input", "before_agent_start", "transcript_append"]));
  assertEventOrder(recorded.events);
  recorded.stop();
  const before = recorded.events.length;
  await agent.run("Again.");
  expect(recorded.events).toHaveLength(before);
});
