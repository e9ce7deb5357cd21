import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent, ExtensionEntry } from "@pi-agent/kernel";
import { type Loaded, type LoadOptions, load } from "@pi-agent/loader";
import sessions from "@pi-agent/sessions";
import {
  SCRIPTED_MODEL,
  type Script,
  scriptedProvider,
  type TempProject,
  type TempProjectOptions,
  tempProject,
} from "@pi-agent/testing";
import { onTestFinished } from "vitest";

/** An agent that is loaded from files, with a person who sees what it tells. */
export interface LoadedAgent extends Loaded, TempProject {
  notices: string[];
  /** Code, owner and text of every `extension_error`. */
  errors: string[];
  /** Sends a prompt and waits for what it starts. */
  ask(text: string): Promise<void>;
  /** The lines that extensions wrote to a file of the home. */
  lines(name: string): string[];
}

const SESSIONS: ExtensionEntry = { owner: { name: "@pi-agent/sessions", scope: "official" }, extension: sessions };

/** Loads an agent in a project of its own and starts its session; with the test's end nothing of it is left. */
export async function loadAgent(
  files: TempProjectOptions,
  more: { script?: Script; options?: Partial<LoadOptions>; official?: ExtensionEntry[] } = {},
): Promise<LoadedAgent> {
  const project = await tempProject(files);
  const notices: string[] = [];
  const errors: string[] = [];
  const extension = scriptedProvider(more.script ?? (() => ({ text: "Done." })));
  const provider: ExtensionEntry = { owner: { name: "scripted", scope: "official" }, extension };
  const notify = (message: string) => void notices.push(message);
  const loaded = await load({
    cwd: project.path,
    env: { PATH: process.env.PATH, HOME: project.home },
    official: [...(more.official ?? [SESSIONS]), provider],
    mode: { name: "print", hasUI: false, ui: { ...QUIET, notify } },
    ...more.options,
  });
  onTestFinished(async () => {
    await loaded.dispose();
    await project.cleanup();
  });
  const { agent } = loaded;
  agent.on("extension_error", ({ code, owner, error }) => void errors.push(`${code} of ${owner}: ${error}`));
  await agent.setModel(SCRIPTED_MODEL);
  await agent.dispatch("session_start", { reason: "startup" });
  return { ...project, ...loaded, notices, errors, ask: (text) => ask(agent, text), lines: linesIn(project.home) };
}

const QUIET = {
  select: async () => undefined,
  confirm: async () => false,
  input: async () => undefined,
  editor: async () => undefined,
  setStatus: () => {},
  setWidget: () => {},
  setTitle: () => {},
  setEditorText: () => {},
  custom: async () => undefined,
};

async function ask(agent: Agent, text: string): Promise<void> {
  await agent.input(text);
  await agent.settled();
}

function linesIn(home: string): (name: string) => string[] {
  return (name) => {
    const path = join(home, name);
    return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
  };
}

/** An extension's source that writes what happens to it to `<home>/log`, after `id`. */
export function logging(id: string, body = ""): string {
  return `import { appendFileSync } from "node:fs";
import { join } from "node:path";
export default function (pi) {
  const home = pi.service("environment").env.HOME;
  const log = (text) => appendFileSync(join(home, "log"), ${JSON.stringify(id)} + " " + text + "\\n");
  log("made");
  pi.on("session_start", (event) => log("start " + event.reason));
  pi.on("session_shutdown", (event) => log("shutdown " + event.reason));
  pi.on("turn_end", () => log("turn"));
  pi.onDispose(() => log("disposed"));
  ${body}
}
`;
}

/** An extension's source that registers a tool of this name, described as `text`. */
export function tool(name: string, text: string): string {
  return `export default (pi) => pi.registerTool({
  name: ${JSON.stringify(name)},
  description: ${JSON.stringify(text)},
  parameters: { type: "object", properties: {} },
  execute: async () => ({ content: [{ type: "text", text: ${JSON.stringify(text)} }] }),
});
`;
}
