/** Reads an agent that is a list of packages (P13): all that is wrong in its file is told at once, and nothing is guessed. */
import { basename, dirname, join, resolve } from "node:path";
import { AgentError, type Json, type JsonObject, type ThinkingLevel } from "@pi-agent/kernel";
import { AGENT_SCHEMA, FULL_AGENT_SCHEMA } from "./agent-schema.ts";
import { readRegularFile } from "./file-view.ts";
import { findMisfits, isJsonObject, type Misfit } from "./json-check.ts";
import { placesIn } from "./jsonc.ts";
import { findEscape } from "./manifest.ts";
import { nearestNames } from "./nearest-names.ts";
import { messageOf, type OwnFile, readOwnFile } from "./own-file.ts";
import { findNameFault } from "./packages/package-name.ts";
import { isInside, lookAt, realPathOf } from "./places.ts";
import { toPrintable } from "./printable.ts";

/** An agent as a list of packages. */
export interface AgentDefinition {
  /** The file it was read from, absolute. */
  file: string;
  name: string;
  description?: string;
  model?: string;
  thinking?: ThinkingLevel;
  systemPrompt?: string;
  /** In load order. `name`: a package's name, or a path that begins with `./` or `../`, relative to the file. */
  packages: readonly { name: string; options?: unknown }[];
  /** Names of the tools that are on; absent: all that are on by default; empty: none. */
  tools?: readonly string[];
  settings?: JsonObject;
  maxTurns?: number;
}

type AgentJson = Omit<AgentDefinition, "file" | "packages"> & {
  systemPromptFile?: string;
  packages: Record<string, true | JsonObject>;
};

const KEYS: readonly string[] = Object.keys(AGENT_SCHEMA.properties);
const FOLDER_FILES = ["agent.json", "package.json"];
const MAX_PROMPT_BYTES = 1 << 20;
// Nobody reads more.
const MAX_TOLD = 20;
const MEND = "Mend it there; agent.schema.json says what an agent file may hold.";

/**
 * Reads an agent file: `agent.json` under any name, with comments or without, a `package.json` with `pi.agent`, or the
 * folder of one of them. Fails with `agent_file`, whose message has a line for each fault.
 */
export async function readAgentFile(path: string): Promise<AgentDefinition> {
  const file = findFile(resolve(path));
  const read = readOwnFile(file);
  if (read.problem) throw wordFaults(file, [read.problem]);
  const { keys, value } = findAgent(read);
  const placeOf = placesIn(read.text);
  const prompt = isJsonObject(value) ? readPrompt(file, value) : {};
  const misfits = [...findAgentMisfits(value), ...(prompt.misfit ? [prompt.misfit] : [])];
  const faults = misfits.map((misfit) => ({ ...misfit, ...placeOf([...keys, ...misfit.keys]) }));
  if (faults.length > 0) throw wordFaults(file, faults);
  const { name, description, model, thinking, tools, settings, maxTurns, packages } = value as unknown as AgentJson;
  const picked = Object.entries(packages).map(([each, options]) =>
    options === true ? { name: each } : { name: each, options },
  );
  const said = { description, model, thinking, systemPrompt: prompt.text, tools, settings, maxTurns };
  return { file, name, packages: picked, ...said };
}

// ---------------------------------------------------------------- which file

function findFile(path: string): string {
  const stats = lookAt(realPathOf(path));
  if (!stats) throw noFile(`There is nothing at ${toPrintable(path)}.`);
  if (!stats.isDirectory()) return path;
  const found = FOLDER_FILES.map((name) => join(path, name)).find((each) => lookAt(each));
  if (found === undefined) throw noFile(`${toPrintable(path)} holds neither agent.json nor package.json.`);
  return found;
}

/** The value that describes the agent, and the keys that lead to it. */
function findAgent({ path, values }: OwnFile): { keys: string[]; value: Json | undefined } {
  if (basename(path) !== "package.json") return { keys: [], value: values };
  const { pi } = values;
  const value = isJsonObject(pi) ? pi.agent : undefined;
  if (value === undefined) throw noFile(`${toPrintable(path)} describes no agent: it has no "pi.agent".`);
  return { keys: ["pi", "agent"], value };
}

function noFile(message: string): AgentError {
  return new AgentError("agent_file", message, {
    hint: `Name an agent.json, a package.json with "pi.agent", or the folder of one; pi create agent makes one.`,
  });
}

// ---------------------------------------------------------------- what is wrong in it

function findAgentMisfits(value: unknown): Misfit[] {
  const misfits = findMisfits(FULL_AGENT_SCHEMA, value).map(wordMisfit);
  const packages = isJsonObject(value) && isJsonObject(value.packages) ? Object.keys(value.packages) : [];
  for (const name of packages) {
    const fault = findPickFault(name);
    if (fault !== undefined) misfits.push({ keys: ["packages", name], message: `The package "${name}" ${fault}.` });
  }
  return misfits;
}

function wordMisfit({ keys, message }: Misfit): Misfit {
  const [key = "", ...below] = keys;
  if (keys.length === 0) return { keys, message: `${message.charAt(0).toUpperCase()}${message.slice(1)}.` };
  if (below.length > 0 || KEYS.includes(key)) return { keys, message: `"${keys.join(".")}" does not fit: ${message}.` };
  const nearest = nearestNames(key, KEYS, 1)[0] ?? KEYS.find((known) => key.toLowerCase().includes(known));
  const meant = nearest === undefined ? `It knows: ${KEYS.join(", ")}.` : `Did you mean "${nearest}"?`;
  return { keys, message: `An agent has no "${key}". ${meant}` };
}

function findPickFault(name: string): string | undefined {
  if (!/^\.\.?\//.test(name)) {
    const fault = findNameFault(name);
    return fault && `${fault}; write its name alone, or a path that begins with ./ or ../`;
  }
  return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\\]/u.test(name) ? "holds a character that no path here may have" : undefined;
}

/** Reads the prompt from where the file has it. */
function readPrompt(file: string, agent: JsonObject): { text?: string; misfit?: Misfit } {
  const { systemPrompt, systemPromptFile: named } = agent;
  const keys = ["systemPromptFile"];
  if (named !== undefined && systemPrompt !== undefined)
    return { misfit: { keys, message: `"systemPrompt" and "systemPromptFile" say the same thing: leave one out.` } };
  // Others are told as what they are.
  if (typeof named !== "string" || named === "") return typeof systemPrompt === "string" ? { text: systemPrompt } : {};
  try {
    return { text: readBelow(dirname(file), named) };
  } catch (thrown) {
    return { misfit: { keys, message: `The file of "systemPromptFile" cannot be used: it ${messageOf(thrown)}.` } };
  }
}

function readBelow(folder: string, name: string): string {
  const path = realPathOf(join(folder, name));
  if (findEscape(name) !== undefined || !isInside(path, realPathOf(folder)))
    throw new Error("leaves the folder of the agent");
  if (!lookAt(path)) throw new Error("is not there");
  const bytes = readRegularFile(path, MAX_PROMPT_BYTES);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).trim();
  } catch {
    throw new Error("is not text in UTF-8");
  }
}

// ---------------------------------------------------------------- how it is told

function wordFaults(file: string, faults: readonly { line?: number; column?: number; message: string }[]): AgentError {
  const lines = faults.slice(0, MAX_TOLD).map(({ line, column, message }) => {
    const place = line === undefined ? "" : `:${line}:${column}`;
    return `${toPrintable(file)}${place}: ${toPrintable(message)}`;
  });
  if (faults.length > MAX_TOLD) lines.push(`… and ${faults.length - MAX_TOLD} more.`);
  return new AgentError("agent_file", lines.join("\n"), { hint: MEND });
}
