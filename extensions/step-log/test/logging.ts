import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Agent, createAgent, type Extension, type Host } from "@pi-agent/kernel";
import stepLog from "../src/index.ts";
import { answer, scripted, type Turn } from "./scripted.ts";

export type Line = Record<string, unknown> & { event: string };

export interface Logging extends AsyncDisposable {
  agent: Agent;
  notices: string[];
  /** Ends the agent and reads the log. */
  finish(): Promise<Line[]>;
}

/** An agent that logs to a file, in a folder that goes away with it. */
export async function startLogging(given: {
  turns?: Turn[];
  before?: Extension[];
  after?: Extension[];
  host?: Partial<Host>;
  maxTurns?: number;
}): Promise<Logging> {
  const cwd = mkdtempSync(join(tmpdir(), "pi-step-log-"));
  const notices: string[] = [];
  const ui = { notify: (text: string) => void notices.push(text) } as Host["ui"];
  const agent = createAgent({
    extensions: [...(given.before ?? []), stepLog, scripted(given.turns), ...(given.after ?? [])],
    host: { cwd, flags: new Map([["log", "log.jsonl"]]), ui, ...given.host },
    graceMs: 50,
    maxTurns: given.maxTurns,
  });
  await agent.ready();
  return {
    agent,
    notices,
    async finish() {
      await agent.dispose();
      return parse(readFileSync(join(cwd, "log.jsonl"), "utf8"));
    },
    async [Symbol.asyncDispose]() {
      await agent.dispose();
      rmSync(cwd, { recursive: true });
    },
  };
}

function parse(text: string): Line[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Line);
}

export async function prompt(agent: Agent, text = "go"): Promise<void> {
  await agent.input(text);
  await agent.settled();
}

export const call = (name: string, args = {}, id = `id-${name}`) =>
  answer([{ type: "toolCall", id, name, arguments: args }]);
export const say = (text: string) => answer([{ type: "text", text }]);
export const fails = (kind: "overloaded" | "auth") =>
  answer([], { stopReason: "error", errorMessage: `It is ${kind}.`, failure: { kind } });
