import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent, Entry, ExtensionEntry } from "@pi-agent/kernel";
import { SCRIPTED_MODEL, type Script, scriptedProvider, type TempProject, tempProject } from "@pi-agent/testing";
import { onTestFinished } from "vitest";
import { load } from "../../../../loader/src/index.ts";
import sessions from "../../src/index.ts";

/** A conversation with a person who answers what they are asked. */
export interface Talk extends TempProject {
  agent: Agent;
  /** What was told since it was looked at last. */
  told: () => string;
  /** What was asked: the title, then the choices. */
  asked: string[][];
  /** What stands where the person types next. */
  offered: () => string;
  /** Types a prompt or a command; `answers`: the choice with that text in it, or a text, question by question. */
  type: (text: string, ...answers: (string | undefined)[]) => Promise<void>;
  /** The ids of what the person said on this branch. */
  said: () => { id: string; text: string }[];
  folder: string;
}

/** Starts a conversation in a project of its own; with the test's end nothing of it is left. */
export async function talk(
  given: {
    script?: Script;
    hasUI?: boolean;
    flags?: Map<string, string | boolean>;
    official?: ExtensionEntry[];
    settings?: object;
    project?: TempProject;
    answers?: (string | undefined)[];
  } = {},
): Promise<Talk> {
  const { hasUI = true, official = [], flags, settings = {} } = given;
  const project = given.project ?? (await tempProject({ agentFiles: { "settings.json": JSON.stringify(settings) } }));
  const answers: (string | undefined)[] = given.answers ?? [];
  const asked: string[][] = [];
  let told: string[] = [];
  let offered = "";
  const ui = {
    select: async (title: string, choices: string[]) => {
      asked.push([title, ...choices]);
      const wanted = answers.shift();
      return wanted === undefined ? undefined : choices.find((choice) => choice.includes(wanted));
    },
    confirm: async () => false,
    input: async (title: string) => {
      asked.push([title]);
      return answers.shift();
    },
    editor: async () => undefined,
    notify: (text: string, level = "info") => void told.push(level === "info" ? text : `${level}: ${text}`),
    setStatus: () => {},
    setWidget: () => {},
    setTitle: () => {},
    setEditorText: (text: string) => void (offered = text),
    custom: async () => undefined,
  };
  const own = (name: string, extension: ExtensionEntry["extension"]) =>
    ({ owner: { name, scope: "official" }, extension }) as ExtensionEntry;
  const model = scriptedProvider(given.script ?? (({ messages }) => ({ text: `answer ${messages.length}` })));
  const loaded = await load({
    cwd: project.path,
    env: { PATH: process.env.PATH, HOME: project.home },
    agentDir: project.agentDir,
    flags: { values: flags },
    official: [own("@pi-agent/sessions", sessions), ...official, own("scripted", model)],
    mode: { name: hasUI ? "conversation" : "print", hasUI, ui },
  });
  onTestFinished(async () => {
    await loaded.dispose();
    await project.cleanup();
  });
  const { agent } = loaded;
  await agent.setModel(SCRIPTED_MODEL);
  await agent.dispatch("session_start", { reason: "startup" });
  return {
    ...project,
    agent,
    asked,
    folder: join(project.agentDir, "sessions"),
    told: () => told.splice(0).join("\n"),
    offered: () => offered,
    async type(text, ...more) {
      answers.push(...more);
      await agent.input(text);
      await agent.settled();
    },
    said: () => agent.transcript.path().flatMap((entry) => saidIn(entry)),
  };
}

function saidIn(entry: Entry): { id: string; text: string }[] {
  if (entry.type !== "message" || entry.message.role !== "user") return [];
  const { content } = entry.message;
  return [{ id: entry.id, text: typeof content === "string" ? content : JSON.stringify(content) }];
}

/** The session files below a folder. */
export function sessionFiles(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true }) as string[];
  return names
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(folder, name))
    .sort();
}

/** The lines of a session file, parsed. */
export function readLines(file: string): Record<string, unknown>[] {
  return readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
