/** An agent of the real kernel with files that are agents, a scripted model, and a few tools. */
import {
  type Agent,
  AgentError,
  type AgentOptions,
  createAgent,
  type Extension,
  type ExtensionEntry,
  type FlagValue,
  type Host,
  type Model,
  type Resource,
} from "@pi-agent/kernel";
import { SCRIPTED_MODEL, type Script, type ScriptedProvider, scriptedProvider } from "@pi-agent/testing";
import { onTestFinished } from "vitest";
import { loadYaml, readFrontmatter } from "../../../loader/src/frontmatter.ts";
import systemPrompt from "../../system-prompt/src/index.ts";
import agents, { type AgentsService } from "../src/index.ts";

const parseYaml = await loadYaml();

const OTHER_MODEL: Model = { ...SCRIPTED_MODEL, id: "other", name: "Other" };

/** Files by their path; what begins with `project/` is a project's. */
export type Files = Record<string, string>;

export interface Opened {
  agent: Agent;
  agents: AgentsService;
  model: ScriptedProvider;
  files: Files;
  notices: string[];
  /** Names of the tools that ran. */
  ran: string[];
  faults: string[];
  /** The system prompt of the next run. */
  prompt: () => Promise<string>;
}

export interface Given {
  files?: Files;
  script?: Script;
  flags?: Record<string, FlagValue>;
  extensions?: (Extension | ExtensionEntry)[];
  entries?: AgentOptions["entries"];
  /** Whether a package writes the system prompt. */
  hasPrompt?: boolean;
  hasKey?: (provider: string) => boolean;
}

export function official(name: string, extension: Extension): ExtensionEntry {
  return { owner: { name, scope: "official" }, extension };
}

/** An extension with tools that note that they ran. */
export function toolsOf(names: readonly string[], ran: string[], off: readonly string[] = []): Extension {
  return (pi) => {
    for (const name of names) {
      pi.registerTool({
        name,
        description: name,
        parameters: { type: "object" },
        effect: "read",
        defaultActive: !off.includes(name),
        execute: async () => {
          ran.push(name);
          return { content: [{ type: "text", text: `${name} ran` }] };
        },
      });
    }
  };
}

export async function open(given: Given = {}): Promise<Opened> {
  const { files = {}, flags = {}, script = [], entries, extensions = [], hasPrompt = true } = given;
  const [notices, ran, faults]: string[][] = [[], [], []];
  const model = scriptedProvider(script);
  const own = toolsOf(["read", "bash", "write", "grep"], ran!, ["grep"]);
  const agent = createAgent({
    extensions: [
      official("@pi-agent/tools", own),
      official("@pi-agent/testing", model),
      ...(hasPrompt ? [official("@pi-agent/system-prompt", systemPrompt)] : []),
      official("@pi-agent/agents", agents),
      ...extensions,
    ],
    entries,
    host: {
      cwd: "/nowhere",
      flags: new Map(Object.entries(flags)),
      resources: { list: (kind) => listFiles(files, kind) },
      models: modelsOf(given.hasKey),
      ui: { notify: (text: string) => void notices!.push(text), setStatus: () => {} } as unknown as Host["ui"],
    },
  });
  agent.on("fault", ({ error }) => void faults!.push(error.message));
  await agent.ready();
  onTestFinished(async () => void (await agent.dispose()));
  const prompt = async () => {
    await agent.run("Go.");
    return model.requests.at(-1)!.systemPrompt;
  };
  const service = agent.service("agents")!;
  return { agent, agents: service, model, files, notices: notices!, ran: ran!, faults: faults!, prompt };
}

/** Writes the file of an agent. */
export function fileOf(frontmatter: string, body = ""): string {
  return `---\n${frontmatter}\n---\n${body}`;
}

const KINDS: Record<string, string> = { agents: "agent", skills: "skill", context: "context-file" };

function listFiles(files: Files, kind: string): Resource[] {
  const found = Object.keys(files).filter((path) => KINDS[path.replace("project/", "").split("/")[0]!] === kind);
  return found.map((path) => toResource(path, () => files[path]!, kind));
}

/** A resource as the loader makes it, with its parser. */
export function toResource(path: string, text: () => string, kind = "agent"): Resource {
  const scope = path.startsWith("project/") ? "project" : "user";
  return {
    id: path,
    kind,
    path,
    source: "files",
    scope,
    state: "loaded",
    text,
    get frontmatter() {
      return readFrontmatter(text(), parseYaml);
    },
  };
}

function modelsOf(hasKey: Given["hasKey"] = () => true): Host["models"] {
  const all = [SCRIPTED_MODEL, OTHER_MODEL, { ...OTHER_MODEL, id: "far", provider: "keyless" }];
  return {
    list: () => all,
    hasCredentials: hasKey,
    initial: () => ({ model: SCRIPTED_MODEL }),
    resolve(reference) {
      const [name, thinking] = reference.split(":");
      const model = all.find(({ provider, id }) => `${provider}/${id}` === name);
      if (model) return { model, thinkingLevel: thinking as "high" };
      throw new AgentError("unknown_model", `There is no model "${reference}".`, {
        hint: "Did you mean scripted/other?",
      });
    },
  };
}
