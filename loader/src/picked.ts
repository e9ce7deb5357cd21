/**
 * What an agent that is a list of packages picks (P13).
 *
 *   a path             ─► beside the agent's file
 *   a program's own    ─► node_modules around the file, else what comes with the command
 *   a person's file    ─► what comes with the command, else what they installed, else node_modules around the file
 */
import { dirname, join, resolve } from "node:path";
import {
  type Agent,
  AgentError,
  type AgentOptions,
  type Extension,
  type ExtensionEntry,
  isAgentError,
  type Json,
} from "@pi-agent/kernel";
import type { AgentDefinition } from "./agent-file.ts";
import { assertToolsKnown } from "./agent-tools.ts";
import type { ModelStore } from "./models.ts";
import type { LoadOptions } from "./options.ts";
import type { InstalledPackage } from "./packages/index.ts";
import { foldersUpTo, lookAt, realPathOf } from "./places.ts";

/** What is there of what was picked. `inside`: what lies in the project and waits for trust; real paths. */
export interface Picked {
  packages: InstalledPackage[];
  inside: { path: string; options?: unknown }[];
}

type PickedPackage = AgentDefinition["packages"][number];

/**
 * The official packages that are to be loaded: all but those that the person's `list` of extensions turns off, or those that
 * the agent picks, with their options.
 */
export function pickOfficial({ official = [], agent, isBare }: LoadOptions, list: unknown): readonly ExtensionEntry[] {
  if (!isBare && !agent) return official.filter(({ owner }) => isLeftOn(owner.name, list));
  // What the front end itself lends is no package.
  const own = official.filter(({ owner }) => owner.scope === "host");
  const picked = agent && !isBare ? agent.definition.packages : [];
  return [
    ...own,
    ...(isBare ? [] : limitTools(agent?.definition)),
    ...picked.flatMap((pick) => {
      const entry = isFoundBeside(agent, pick) ? undefined : official.find(({ owner }) => owner.name === pick.name);
      return entry ? [{ ...entry, options: pick.options ?? entry.options }] : [];
    }),
  ];
}

/** Finds the model that an agent's file names; an error names the file. Fails with `unknown_model`, `ambiguous_model`. */
export function resolveOwnModel(
  models: Pick<ModelStore, "resolve">,
  { file, model = "" }: Pick<AgentDefinition, "file" | "model">,
): ReturnType<ModelStore["resolve"]> {
  try {
    return models.resolve(model);
  } catch (thrown) {
    if (!isAgentError(thrown)) throw thrown;
    const { code, message, hint, cause } = thrown;
    throw new AgentError(code, `${file}: ${message}`, { hint, cause });
  }
}

/** `-builtin:tools` turns `@pi-agent/tools` off, as Pi writes it; of several entries the last one counts. */
function isLeftOn(name: string, list: unknown): boolean {
  const spellings = [`builtin:${name.slice(name.indexOf("/") + 1)}`, name];
  const entries = Array.isArray(list) ? list.map(String) : [];
  const last = entries.findLast((entry) => /^[!+-]/.test(entry) && spellings.includes(entry.slice(1)));
  return last === undefined || last.startsWith("+");
}

/** A list of tools is a limit: nothing that loads, and no agent below, gets another one to run. */
function limitTools({ name, tools }: Partial<AgentDefinition> = {}): ExtensionEntry[] {
  if (!tools) return [];
  const allowed = new Set(tools);
  const reason = `the agent ${name}`;
  const classify = ({ toolName }: { toolName: string }) => {
    if (allowed.has(toolName)) return undefined;
    throw new Error(`The agent ${name} does not have the tool ${toolName}. Its tools: ${tools.join(", ") || "none"}.`);
  };
  const extension: Extension = (pi) => void pi.limitEffects({ ceiling: "execute", reason, classify });
  return [{ owner: { name: reason, scope: "host" }, extension }];
}

/** What a definition says of the agent itself, but for its model, which only extensions make known. */
export function describePicked({
  agent,
}: LoadOptions): Pick<AgentOptions, "systemPrompt" | "thinkingLevel" | "activeTools"> {
  const { systemPrompt, thinking, tools } = agent?.definition ?? {};
  return { systemPrompt, thinkingLevel: thinking, activeTools: tools && [...tools] };
}

/** Sets the model that the definition names. Fails with `unknown_model`, and with `unknown_tool` for a tool that is nowhere. */
export async function settlePicked(options: LoadOptions, agent: Agent, models: ModelStore): Promise<void> {
  const { agent: picked, isPlanOnly } = options;
  if (!picked || isPlanOnly) return;
  const { model } = picked.definition;
  assertToolsKnown(picked.definition, agent.registry("tool"));
  if (model === undefined) return;
  const found = resolveOwnModel(models, picked.definition);
  await agent.setModel(found.model);
  const level = picked.definition.thinking ?? found.thinkingLevel;
  if (level) agent.setThinkingLevel(level);
}

/** Finds everything else that the agent picks. Fails with `package_missing` where something is nowhere. */
export async function findPicked(
  agent: NonNullable<LoadOptions["agent"]>,
  from: {
    /** Names of what comes with the command. */
    official: readonly string[];
    isProjects(path: string): boolean;
    findIn(entries: Json[]): Promise<InstalledPackage[]>;
    findInstalled(): Promise<InstalledPackage[]>;
  },
): Promise<Picked> {
  const picked: Picked = { packages: [], inside: [] };
  const { definition } = agent;
  let installed: InstalledPackage[] | undefined;
  for (const pick of definition.packages) {
    if (!isFoundBeside(agent, pick) && from.official.includes(pick.name)) continue;
    const known = isPath(pick) ? undefined : (installed ??= await from.findInstalled()).find(isNamed(pick));
    if (known) {
      picked.packages.push({ ...known, options: (pick.options as Json) ?? known.options });
      continue;
    }
    const path = isPath(pick) ? resolve(dirname(definition.file), pick.name) : findBeside(definition.file, pick.name);
    if (path === undefined) throw wordMissing(pick, definition);
    if (from.isProjects(path)) picked.inside.push({ path: realPathOf(path), options: pick.options });
    else picked.packages.push(...(await from.findIn([{ source: path, options: pick.options as Json }])));
  }
  return picked;
}

function isNamed({ name }: PickedPackage): (each: InstalledPackage) => boolean {
  return (each) => each.name === name;
}

function isPath({ name }: PickedPackage): boolean {
  return /^\.\.?\//.test(name);
}

function isFoundBeside(agent: LoadOptions["agent"], pick: PickedPackage): boolean {
  return agent?.isOwn === true && !isPath(pick) && findBeside(agent.definition.file, pick.name) !== undefined;
}

/** Where Node would look for it. */
function findBeside(file: string, name: string): string | undefined {
  const folders = foldersUpTo(dirname(file), "").map((folder) => join(folder, "node_modules", name));
  return folders.find((folder) => lookAt(join(folder, "package.json")));
}

function wordMissing({ name }: PickedPackage, { file, name: agent }: AgentDefinition): AgentError {
  return new AgentError("package_missing", `The agent ${agent} picks ${name}, which is not installed.`, {
    hint: `Run: pi install npm:${name} (or npm install ${name} beside ${file}). To go without it, take it out there.`,
  });
}
