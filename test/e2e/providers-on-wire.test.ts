import anthropic from "@pi-agent/anthropic";
import gemini from "@pi-agent/gemini";
import { createAgent, type Extension } from "@pi-agent/kernel";
import openai from "@pi-agent/openai";
import { assertEventOrder, lastResults, recordEvents, type Script } from "@pi-agent/testing";
import { type Chunking, modelsJson, startWireServer, WIRE_PROVIDERS, type WireServer } from "@pi-agent/testing/wire";
import { afterEach, expect, test } from "vitest";

const disposals: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const dispose of disposals.splice(0).toReversed()) await dispose();
});

const tools: Extension = (pi) => {
  pi.registerTool({
    name: "look",
    description: "Looks at something.",
    parameters: {
      type: "object",
      properties: { what: { type: "string" }, mood: { anyOf: [{ const: "calm" }, { type: "null" }] } },
      required: ["what"],
      additionalProperties: false,
    } as never,
    execute: async (_id, args) => {
      const { what } = args as { what: string };
      if (what === "nothing") throw new Error("There is nothing to see.");
      if (what === "silence") return { content: [] };
      if (what === "broken") return { content: [{ type: "text", text: "cut \ud83d" }] };
      return { content: [{ type: "text", text: `a view of ${what}` }] };
    },
  });
};

/** An agent on a wire server, with the providers of its models.json. */
async function startAgent(provider: string, server: WireServer) {
  const { providers } = modelsJson(server.url);
  const wire: Extension = (pi) => {
    for (const [id, { api, baseUrl, models }] of Object.entries(providers)) {
      const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
      pi.registerProvider({
        id,
        api,
        baseUrl,
        env: [],
        models: models.map((model) => ({ ...model, provider: id, api, baseUrl, cost })),
      });
    }
  };
  const agent = createAgent({
    extensions: [anthropic, gemini, openai, wire, tools],
    model: `${provider}/scripted`,
    thinkingLevel: "medium",
    systemPrompt: "Look around.",
    host: {
      credentials: {
        names: () => [],
        resolve: async (id) => ({ apiKey: "test-key", baseUrl: providers[id]?.baseUrl }),
      },
    },
  });
  disposals.push(() => agent.dispose());
  await agent.ready();
  return agent;
}

async function startServer(script: Script, chunking: Chunking = "event"): Promise<WireServer> {
  const server = await startWireServer({ script, chunking });
  disposals.push(() => server.close());
  return server;
}

const SCRIPT: Script = [
  {
    thinking: "First \u{1f914} two views.",
    text: "I look twice.",
    calls: [
      { name: "look", arguments: { what: "é \u{1f600}" } },
      { name: "look", arguments: { what: "nothing" } },
    ],
  },
  { calls: [{ name: "look", arguments: { what: "silence" } }] },
  { thinking: "One more.", calls: [{ name: "look", arguments: { what: "broken" } }] },
  {
    calls: [
      { name: "look", arguments: {} },
      { name: "gaze", arguments: { at: "x" } },
    ],
  },
  { thinking: "Enough.", text: "That is \u{1f30d} all." },
];

for (const provider of WIRE_PROVIDERS) {
  test.for(["event", "burst", "bytes:3"] as Chunking[])(
    `${provider}: five turns with thinking, parallel calls and odd results pass the strict server, in chunks of %s`,
    async (chunking) => {
      const server = await startServer(SCRIPT, chunking);
      const agent = await startAgent(provider, server);
      const recorded = recordEvents(agent);
      const { answer, outcome } = await agent.run("What do you see?");
      expect(server.refusals()).toEqual([]);
      expect({ answer, outcome }).toEqual({ answer: "That is \u{1f30d} all.", outcome: "done" });
      assertEventOrder(recorded.events);
      expect(lastResults(server.requests[1]!.neutral!).map((result) => result.text)).toEqual([
        "a view of é \u{1f600}",
        expect.stringContaining("There is nothing to see."),
      ]);
      expect(server.requests).toHaveLength(5);
    },
  );

  test(`${provider}: the history of another provider is sent so that this one takes it (F115, F130, F131, K15)`, async () => {
    const server = await startServer((request) =>
      lastResults(request).length > 0 || request.messages.length > 1
        ? { thinking: "Hm.", text: "Seen." }
        : { thinking: "Look.", calls: [{ name: "look", arguments: { what: request.format }, id: "call_1" }] },
    );
    const agent = await startAgent(provider, server);
    await agent.input("Look.");
    await agent.settled();
    for (const other of WIRE_PROVIDERS) {
      const model = [...agent.registry("provider").values()].find(({ name }) => name === other)!.value.models[0]!;
      await agent.setModel(model);
      await agent.input(`And as ${other}?`);
      await agent.settled();
    }
    expect(server.refusals()).toEqual([]);
    expect(server.requests).toHaveLength(2 + WIRE_PROVIDERS.length);
  });

  test(`${provider}: after an abort in mid stream the next prompt is taken (F131)`, async () => {
    const server = await startServer([
      { text: "I begin", calls: [{ name: "look", arguments: { what: "a".repeat(200) } }], hangAfter: 6 },
      { text: "Back again." },
    ]);
    const agent = await startAgent(provider, server);
    await agent.input("Go.");
    const request = await server.waitForRequest(0);
    await request.hanging;
    await agent.abort();
    expect(await request.ended).toBe("left");
    await agent.input("Still there?");
    await agent.settled();
    expect(server.refusals()).toEqual([]);
    expect(server.requests).toHaveLength(2);
  });

  test.for([
    ["error-event", /overloaded|server/],
    ["end", /network|malformed_response/],
    ["cut", /network/],
    [{ status: 401 }, /auth/],
    [{ status: 429 }, /rate_limit/],
    [{ status: 500 }, /server/],
  ] as const)(`${provider}: %j is a typed failure (F122)`, async ([fail, kind]) => {
    const server = await startServer([{ text: "some words that never end", fail }]);
    const agent = await startAgent(provider, server);
    const { outcome, messages } = await agent.run("Go.");
    const last = messages.at(-1);
    expect(outcome).toBe("error");
    expect(last?.role === "assistant" && last.failure?.kind).toMatch(kind);
  });
}
