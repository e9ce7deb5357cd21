import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Agent, createAgent, type Extension, type Host } from "@pi-agent/kernel";
import { scriptedProvider, type Turn } from "@pi-agent/testing";
import { onTestFinished } from "vitest";
import sessions from "../src/index.ts";

/** Makes a temporary folder that the test's end removes. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "pi-sessions-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function header(more: object = {}): object {
  return { type: "session", version: 3, id: "s-1", timestamp: "2026-01-02T03:04:05.678Z", cwd: "/project", ...more };
}

export function message(id: string, parentId: string | null, text = id, more: object = {}): object {
  const said = { role: "user", content: [{ type: "text", text }], timestamp: 1 };
  return { type: "message", id, parentId, timestamp: "2026-01-02T03:04:06.000Z", message: said, ...more };
}

export function lines(...values: unknown[]): string {
  return linesOf(values);
}

export function linesOf(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}

export interface Notice {
  text: string;
  level: string;
}

/** An agent with sessions and a model that takes the turns and is done; `begin` fires what a loader fires at a start. */
export async function startAgent(given: {
  cwd: string;
  flags?: Record<string, string | boolean>;
  turns?: (() => Turn)[];
  extensions?: Extension[];
  settings?: Record<string, unknown>;
  host?: Partial<Host>;
}): Promise<{ agent: Agent; notices: Notice[]; begin: () => Promise<void> }> {
  const { cwd, flags = {}, turns = [], extensions = [], settings = {}, host: more = {} } = given;
  const notices: Notice[] = [];
  const flagMap = new Map(Object.entries(flags));
  const host: Partial<Host> = {
    cwd,
    flags: flagMap,
    ui: { notify: (text: string, level = "info") => void notices.push({ text, level }) } as Host["ui"],
    settings: { get: (key) => settings[key] as never, set: async () => {}, onChange: () => () => {} },
    ...more,
  };
  const model = scriptedProvider(() => turns.shift()?.() ?? { text: "done" });
  const agent = createAgent({ extensions: [sessions, model, ...extensions], host });
  await agent.ready();
  onTestFinished(async () => void (await agent.dispose()));
  const begin = async () => {
    const selected = await agent.dispatch("session_select", { flags: flagMap });
    if (selected) agent.open(selected);
    await agent.dispatch("session_start", { reason: "startup" });
  };
  return { agent, notices, begin };
}

/** Sends a prompt and waits for the end of the run. */
export async function prompt(agent: Agent, text: string): Promise<void> {
  await agent.input(text);
  await agent.settled();
}
