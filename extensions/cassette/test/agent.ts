import {
  type AgentOptions,
  type Api,
  type AssistantMessage,
  createAgent,
  type Extension,
  type ExtensionEntry,
  type Model,
  type StreamEvent,
} from "@pi-agent/kernel";
import { SCRIPTED_MODEL } from "@pi-agent/testing";
import { assistantMessage, usageOf } from "@pi-agent/testing/provider";
import cassette, { type CassetteOptions } from "../src/index.ts";

const OFFICIAL: ExtensionEntry["owner"] = { name: "@pi-agent/cassette", scope: "official" };

/** An agent with the cassette and what a test adds, that answers as `cassette/scripted` unless told otherwise. */
export function cassetteAgent(options: CassetteOptions, more: AgentOptions = {}) {
  const own: ExtensionEntry = { extension: cassette as Extension, options, owner: OFFICIAL };
  return createAgent({ model: "cassette/scripted", ...more, extensions: [own, ...(more.extensions ?? [])] });
}

/** A tool that answers with what it got. */
export const echo: Extension = (pi) => {
  pi.registerTool({
    name: "echo",
    description: "Answers its text",
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const,
    effect: "read",
    execute: async (_id, { text }) => ({ content: [{ type: "text", text }] }),
  });
};

const LIVE_MODEL: Model = { ...SCRIPTED_MODEL, id: "model", provider: "live", api: "live" };

/** A provider `live/model` whose every answer is what `answer` yields. */
export function liveProvider(answer: Api["stream"]): Extension {
  return (pi) => {
    pi.register("api", "live", { stream: answer });
    pi.registerProvider({ id: "live", api: "live", models: [LIVE_MODEL], env: ["LIVE_KEY"] });
  };
}

export function message(content: AssistantMessage["content"], more: Partial<AssistantMessage> = {}): AssistantMessage {
  const cost = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 };
  return assistantMessage(LIVE_MODEL, content, {
    usage: usageOf({ input: 10, output: 5, totalTokens: 15, cost }),
    ...more,
  });
}

/** The events of a stream without what differs each time: the live message, ids, times. */
export function plainEvents(batches: readonly (readonly StreamEvent[])[]): unknown[][] {
  return batches.map((batch) =>
    batch.map((event) => {
      if (event.type === "done" || event.type === "error") return [event.type, event.reason];
      if (event.type === "start") return [event.type];
      const { type, contentIndex, ...rest } = event;
      return "delta" in rest ? [type, contentIndex, rest.delta] : [type, contentIndex];
    }),
  );
}
