import {
  type Agent,
  type AgentOptions,
  createAgent,
  type Entry,
  type Extension,
  type Host,
  type Json,
  type Message,
} from "@pi-agent/kernel";
import { onTestFinished } from "vitest";
import compaction from "../src/index.ts";
import type { CompactionOptions } from "../src/settings.ts";
import type { StrictModel } from "./strict-model.ts";

export interface Started {
  agent: Agent;
  notices: { text: string; level: string }[];
  statuses: (string | undefined)[];
  /** The events of compactions, in order. */
  events: Record<string, unknown>[];
  compactions: () => Entry<"compaction">[];
  /** Sends a prompt, and waits for the end of its run. */
  prompt: (text: string) => Promise<void>;
}

export interface StartOptions {
  strict: StrictModel;
  options?: CompactionOptions;
  settings?: Record<string, Json>;
  extensions?: Extension[];
  entries?: readonly Entry[];
  agent?: AgentOptions;
  hasUI?: boolean;
}

const COMPACTION_EVENTS = ["compaction_start", "compaction_end", "session_compact", "session_compact_failed"] as const;

/** Makes an agent with compaction and a strict model. */
export async function start(given: StartOptions): Promise<Started> {
  const { strict, options, settings = {}, extensions = [], entries, hasUI = true } = given;
  const notices: Started["notices"] = [];
  const statuses: Started["statuses"] = [];
  const ui = {
    notify: (text: string, level = "info") => void notices.push({ text, level }),
    setStatus: (_key: string, text: string | undefined) => void statuses.push(text),
  } as Host["ui"];
  const agent = createAgent({
    extensions: [strict.extension, options ? [compaction, options] : compaction, ...extensions],
    model: strict.model,
    entries,
    host: { hasUI, ui, settings: { get: (key) => settings[key], set: async () => {}, onChange: () => () => {} } },
    graceMs: 200,
    ...given.agent,
  });
  await agent.ready();
  onTestFinished(async () => void (await agent.dispose()));
  const events: Started["events"] = [];
  for (const name of COMPACTION_EVENTS) agent.on(name, (event) => void events.push({ ...event }));
  return {
    agent,
    notices,
    statuses,
    events,
    compactions: () => agent.transcript.path().filter((entry) => entry.type === "compaction"),
    async prompt(text) {
      await agent.input(text);
      await agent.settled();
    },
  };
}

/** Makes entries of messages, one after the other; nothing but a type where it is no message. */
export function entriesOf(messages: readonly Message[], prefix = "e"): Entry[] {
  return messages.map((message, at) => ({
    type: "message",
    id: `${prefix}${at}`,
    parentId: at === 0 ? null : `${prefix}${at - 1}`,
    timestamp: new Date(1_700_000_000_000 + at).toISOString(),
    message,
  }));
}

/** A text that is estimated to have so many tokens. */
export function words(tokens: number, word = "word"): string {
  return `${word} `.repeat(Math.ceil((tokens * 4) / (word.length + 1))).slice(0, tokens * 4);
}

/** A tool that answers with so many tokens. */
export function talker(tokens: number, seen: string[] = []): Extension {
  return (pi) => {
    pi.registerTool({
      name: "talk",
      description: "Talks",
      parameters: { type: "object" },
      async execute(id) {
        seen.push(id);
        return { content: [{ type: "text", text: words(tokens, `talk${seen.length}`) }] };
      },
    });
  };
}
