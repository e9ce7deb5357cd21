/** A real agent whose model is a strict server of one of four wire formats. */
import anthropic from "@pi-agent/anthropic";
import gemini from "@pi-agent/gemini";
import { type Agent, createAgent, type Extension, type ExtensionAPI, type Json, type Model } from "@pi-agent/kernel";
import openai from "@pi-agent/openai";
import type { Script } from "@pi-agent/testing";
import { modelsJson, startWireServer, WIRE_PROVIDERS, type WireServer } from "@pi-agent/testing/wire";

export type WireName = (typeof WIRE_PROVIDERS)[number];

export interface WireAgent extends AsyncDisposable {
  agent: Agent;
  server: WireServer;
  /** What an extension of its own may do. */
  pi: ExtensionAPI;
  /** What its extensions read; each change counts from the next question on. */
  settings: Map<string, Json>;
  /** The names of those that failed, with how often each did. */
  faults: string[];
  model(wire: WireName): Model;
}

export async function startWireAgent(given: {
  wire: WireName;
  script: Script;
  extensions?: readonly (Extension | [Extension, unknown])[];
}): Promise<WireAgent> {
  const server = await startWireServer({ script: given.script, chunking: "burst" });
  const { providers } = modelsJson(server.url);
  const settings = new Map<string, Json>();
  let pi!: ExtensionAPI;
  const host: Extension = (api) => {
    pi = api;
    for (const [id, { api: format, baseUrl, models }] of Object.entries(providers)) {
      const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
      const own = models.map((model) => ({ ...model, provider: id, api: format, baseUrl, cost }));
      api.registerProvider({ id, api: format, baseUrl, env: [], models: own });
    }
  };
  const agent = createAgent({
    extensions: [anthropic, gemini, openai, host, ...(given.extensions ?? [])],
    model: `${given.wire}/scripted`,
    thinkingLevel: "medium",
    systemPrompt: "Look around.",
    graceMs: 200,
    host: {
      settings: { get: (key) => settings.get(key), set: async () => {}, onChange: () => () => {} },
      credentials: {
        names: () => [],
        resolve: async (id) => ({ apiKey: "test-key", baseUrl: providers[id]?.baseUrl }),
      },
      ui: { notify() {}, setStatus() {} } as never,
    },
  });
  const faults: string[] = [];
  agent.on("fault", ({ owner, error }) => {
    // How long a handler takes is up to the machine.
    if (error.code !== "hook_slow") faults.push(`${owner}: ${error.message}`);
  });
  await agent.ready();
  return {
    agent,
    server,
    pi,
    settings,
    faults,
    model: (wire) => agent.registry("provider").get(wire)!.value.models[0]!,
    async [Symbol.asyncDispose]() {
      await agent.dispose();
      await server.close();
    },
  };
}

export async function prompt(agent: Agent, text: string, options?: Parameters<Agent["input"]>[1]): Promise<void> {
  await agent.input(text, options);
  await agent.settled();
}

/** A tool whose results are of every kind that a model is given. */
export const look: Extension = (pi) => {
  pi.registerTool({
    name: "look",
    description: "Looks at something.",
    parameters: {
      type: "object",
      properties: { what: { type: "string" } },
      required: ["what"],
      additionalProperties: false,
    } as never,
    async execute(_id, args) {
      const { what } = args as { what: string };
      if (what === "nothing") throw new Error("There is nothing to see.");
      if (what === "silence") return { content: [] };
      const image = { type: "image" as const, data: PIXEL, mimeType: "image/png" };
      if (what === "picture") return { content: [{ type: "text", text: "A picture:" }, image] };
      if (what === "broken picture") return { content: [image], isError: true };
      return { content: [{ type: "text", text: `A view of ${what}.` }] };
    },
  });
};

/** The smallest picture there is. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
