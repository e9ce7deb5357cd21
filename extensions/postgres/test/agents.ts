/** Agents that record what they do, and what must be found of it afterwards. */
import assert from "node:assert/strict";
import {
  type Agent,
  createAgent,
  type Entry,
  type Extension,
  type ExtensionAPI,
  type Json,
  type ProviderRequest,
} from "@pi-agent/kernel";
import { type Script, scriptedProvider } from "@pi-agent/testing";
import postgres from "../src/index.ts";
import { openReader, type Reader } from "../src/reader.ts";
import { spoolOf } from "../src/settings.ts";
import { spoolStatus } from "../src/spool-folder.ts";
import { fakeHost } from "./hubs.ts";

/** Where an agent keeps things; without an address the database is in its directory. */
export interface Home {
  agentDir: string;
  url?: string;
  schema?: string;
  settings?: Record<string, Json>;
}

export interface RecordedAgent {
  agent: Agent;
  /** What the model was asked, as it was then. */
  requests: readonly ProviderRequest[];
  /** What the person was told. */
  notices: string[];
  /** The exact text of each entry, by run, as the agent made them. */
  made: Map<string, string[]>;
  dispose: () => Promise<void>;
}

export interface AgentSetup {
  script?: Script;
  extensions?: Extension[];
  sessionId?: string;
  entries?: readonly Entry[];
  cwd?: string;
}

/** Calls the tool once in each run, then answers. */
export const LOOK_ONCE: Script = ({ messages }) =>
  messages.at(-1)?.role === "user"
    ? { thinking: "I look.", calls: [{ name: "look", arguments: { at: "here" } }] }
    : { text: "There is a lamp." };

/** Starts an agent with the package, a scripted model and the tool `look`. */
export async function startAgent(home: Home, setup: AgentSetup = {}): Promise<RecordedAgent> {
  const { script = LOOK_ONCE, extensions = [], cwd = "/", ...options } = setup;
  const notices: string[] = [];
  const settings = settingsOf(home);
  const requests: ProviderRequest[] = [];
  const agent = createAgent({
    ...options,
    model: "scripted/scripted",
    extensions: [environment(home), scriptedProvider(script), look, ...extensions, postgres],
    host: {
      cwd,
      settings: { get: (key) => settings[key], set: async () => undefined, onChange: () => () => undefined },
      ui: { notify: (message: string) => void notices.push(message) } as never,
    },
  });
  const made = watch(agent);
  agent.on("provider_call", (request, next) => {
    requests.push({ ...request, messages: [...request.messages] });
    return next(request);
  });
  await agent.ready();
  await agent.dispatch("session_start", { reason: "startup" });
  return { agent, requests, notices, made, dispose: async () => void (await agent.dispose()) };
}

/** Opens what a home's agents have written, with all that waits. */
export function openHome({ agentDir, url, ...home }: Home): Promise<Reader> {
  return openReader(fakeHost(agentDir, { url, settings: settingsOf({ agentDir, ...home }) }));
}

/** What a request came to, but for when its last message was typed. */
export function bodyOf({ systemPrompt, messages, tools, thinkingLevel, model }: ProviderRequest): string {
  const last = messages.at(-1);
  const typed = { ...last, timestamp: 0 };
  return JSON.stringify({ systemPrompt, messages: [...messages.slice(0, -1), typed], tools, thinkingLevel, model });
}

/** How many lines wait in a home. */
export function linesWaiting({ agentDir }: Home): number {
  return spoolStatus(spoolOf(agentDir)).lines;
}

/** Fails unless a database holds each of these runs with exactly these entries, each once and in order. */
export async function assertRecorded(reader: Reader, ...all: Map<string, string[]>[]): Promise<void> {
  const rows = await reader.query<{ run_id: string; seq: number; payload: string }>(
    `select run_id, seq, payload from "${reader.schema}".steps order by run_id, seq`,
  );
  const found = new Map<string, string[]>();
  for (const { run_id, seq, payload } of rows) {
    const steps = found.get(run_id) ?? [];
    found.set(run_id, steps);
    assert.equal(seq, steps.length, `A step is missing before ${seq} in the run ${run_id}.`);
    steps.push(payload);
  }
  for (const made of all) {
    for (const [run, payloads] of made) assert.deepEqual(found.get(run), payloads, `The run ${run} is not as it was.`);
  }
}

function watch(agent: Agent): Map<string, string[]> {
  const made = new Map<string, string[]>();
  let between: string[] = [];
  let current = between;
  agent.on("agent_start", ({ runId }) => {
    current = made.get(runId) ?? between;
    made.set(runId, current);
  });
  agent.on("transcript_append", ({ entry }) => void current.push(JSON.stringify(entry)));
  agent.on("agent_settled", () => {
    current = between = [];
  });
  return made;
}

function look(pi: ExtensionAPI): void {
  pi.registerTool({
    name: "look",
    description: "Looks around.",
    parameters: { type: "object", properties: { at: { type: "string" } } } as never,
    effect: "read",
    execute: async () => ({ content: [{ type: "text", text: "a lamp" }] }),
  });
}

function environment({ agentDir, url }: Home): Extension {
  const env = url === undefined ? {} : { DATABASE_URL: url };
  return (pi) => void pi.register("service", "environment", { agentDir, env });
}

function settingsOf({ schema, settings }: Home): Record<string, Json | undefined> {
  return { ...settings, ...(schema !== undefined && { "postgres.schema": schema }) };
}
