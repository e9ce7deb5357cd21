import anthropic from "@pi-agent/anthropic";
import gemini from "@pi-agent/gemini";
import { createAgent, type Extension, type Json } from "@pi-agent/kernel";
import openai from "@pi-agent/openai";
import type { NeutralRequest, Turn } from "@pi-agent/testing";
import { modelsJson, startWireServer, WIRE_PROVIDERS } from "@pi-agent/testing/wire";
import { expect, onTestFinished, test } from "vitest";
import compaction from "../src/index.ts";
import { SYSTEM_PROMPT } from "../src/prompts.ts";
import type { CompactionOptions } from "../src/settings.ts";
import { talker } from "./start.ts";

const WINDOW = 30_000;
/** A model that says more than is so finds out by overflow, and minds it from then on. */
const SAID = { threshold: WINDOW, overflow: WINDOW + 5_000 };
/** What each service says of a request that is too long. */
const TOO_LONG: Record<(typeof WIRE_PROVIDERS)[number], Json> = {
  "wire-anthropic": {
    type: "error",
    error: { type: "invalid_request_error", message: "prompt is too long: 30123 tokens > 30000 maximum" },
  },
  "wire-chat": {
    error: {
      message: "This model's maximum context length is 30000 tokens. However, your messages resulted in 30123 tokens.",
      type: "invalid_request_error",
      code: "context_length_exceeded",
    },
  },
  "wire-responses": {
    error: {
      message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
      type: "invalid_request_error",
      code: "context_length_exceeded",
    },
  },
  "wire-gemini": {
    error: {
      code: 400,
      message: "The input token count (30123) exceeds the maximum number of tokens allowed (30000).",
      status: "INVALID_ARGUMENT",
    },
  },
};

interface OnWire {
  wire: (typeof WIRE_PROVIDERS)[number];
  script: (request: NeutralRequest) => Turn;
  contextWindow: number;
  options: CompactionOptions;
}

async function startOnWire({ wire, script, contextWindow, options }: OnWire) {
  const server = await startWireServer({ chunking: "burst", script });
  onTestFinished(() => server.close());
  const { api, baseUrl, models } = modelsJson(server.url).providers[wire]!;
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const model = { ...models[0]!, provider: wire, api, baseUrl, cost, contextWindow, maxTokens: 2_000 };
  const service: Extension = (pi) => void pi.registerProvider({ id: wire, api, baseUrl, env: [], models: [model] });
  const notices: string[] = [];
  const agent = createAgent({
    extensions: [anthropic, gemini, openai, service, [compaction, options], talker(700)],
    model,
    systemPrompt: "Talk.",
    host: {
      credentials: { names: () => [], resolve: async () => ({ apiKey: "test-key", baseUrl }) },
      ui: { notify: (text: string) => void notices.push(text), setStatus() {} } as never,
    },
  });
  onTestFinished(async () => void (await agent.dispose()));
  await agent.ready();
  return { agent, server, notices };
}

const isSummary = ({ system }: NeutralRequest) => system.includes(SYSTEM_PROMPT.slice(0, 40));

for (const wire of WIRE_PROVIDERS) {
  for (const way of ["threshold", "overflow"] as const) {
    test(`${wire}: a long run of parallel calls goes on through compactions by ${way}, and nothing is refused`, async () => {
      let rounds = 0;
      const { agent, server } = await startOnWire({
        wire,
        contextWindow: SAID[way],
        options: { reserveTokens: way === "overflow" ? 0 : 7_000 },
        script(request) {
          const tokens = Math.ceil(JSON.stringify(request.messages).length / 4);
          if (tokens > WINDOW) return { fail: { status: 400, body: TOO_LONG[wire] } };
          if (isSummary(request)) return { text: "## Goal\nTo talk on." };
          if (++rounds > 25) return { text: "The end." };
          const call = { name: "talk", arguments: {} };
          return { thinking: "Hm.", text: `Round ${rounds}.`, calls: [call, call, call] };
        },
      });
      const reasons: string[] = [];
      agent.on("compaction_end", ({ reason, result }) => void reasons.push(result ? reason : "failed"));
      await agent.input("Talk on, and remember the word kumquat.");
      await agent.settled();
      expect(server.refusals()).toEqual([]);
      expect(reasons[0]).toBe(way);
      expect(reasons).not.toContain("failed");
      // What was found out once is minded afterwards.
      expect(reasons.filter((reason) => reason === "overflow").length).toBeLessThanOrEqual(1);
      const turns = server.requests.flatMap(({ neutral }) => (neutral && !isSummary(neutral) ? [neutral] : []));
      for (const { messages } of turns) expect(JSON.stringify(messages)).toContain("kumquat");
      expect(agent.transcript.project().at(-1)).toMatchObject({ role: "assistant" });
      expect(rounds).toBe(26);
    });
  }

  for (const fail of [
    { status: 400, body: TOO_LONG[wire] },
    { status: 413, body: "Payload Too Large" },
  ]) {
    test(`F091 ${wire}: switched off, what it says with ${fail.status} is one request and one error with advice`, async () => {
      const { agent, server, notices } = await startOnWire({
        wire,
        contextWindow: WINDOW,
        options: { enabled: false },
        script: () => ({ fail }),
      });
      await agent.input("Talk.");
      await agent.settled();
      expect(server.requests).toHaveLength(1);
      expect(notices).toEqual([expect.stringContaining("automatic compaction is off")]);
      expect(agent.state.activity).toBe("idle");
    });
  }
}
