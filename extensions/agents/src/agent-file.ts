/** What the file of an agent says: its front matter key by key, and the prompt below. Same text, same answer. */
import { basename } from "node:path";
import type { Json, JsonObject, Resource, ThinkingLevel } from "@pi-agent/kernel";
import { nearestName } from "./nearest.ts";

/** What is wrong with a file, and what to do about it. */
export interface Problem {
  what: string;
  hint: string;
}

export interface AgentFile {
  name: string;
  path: string;
  scope: Resource["scope"];
  description?: string;
  model?: string;
  thinking?: ThinkingLevel;
  /** As written; absent where the key is. */
  tools?: readonly string[];
  skills?: readonly string[];
  packages?: readonly string[];
  prompt: string;
}

/** What goes back to the default, and so is no agent's name. */
export const OFF = "off";

const KEYS = ["name", "description", "model", "tools", "skills", "packages", "thinking"];
const LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];
const NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]*$/u;
// What other programs call a restriction, and what one could be called.
const RESTRICTION = /tool|allow|den[iy]|permission|forbid|restrict|exclude|access|sandbox|readonly|read-only/i;
const FENCED = /^---[ \t]*\r?\n(?:[\s\S]*?\r?\n)?---([^\n]*)(?:\n|$)/;
const MAX_QUOTED = 60;

/** The name of the agent in a file: the file's. */
export function agentNameOf({ path }: Pick<Resource, "path">): string {
  return basename(path, ".md");
}

/** Reads an agent's file. One with problems is not to be used. */
export function readAgentFile(resource: Resource): { file: AgentFile; problems: Problem[] } {
  const { path, scope } = resource;
  const problems: Problem[] = [];
  const { frontmatter, prompt } = splitFile(resource, problems);
  const reader = new KeyReader(frontmatter, problems);
  const name = agentNameOf(resource);
  reader.checkName(name);
  const file: AgentFile = {
    name,
    path,
    scope,
    prompt,
    description: reader.text("description"),
    model: reader.text("model"),
    thinking: reader.level("thinking"),
    tools: reader.list("tools"),
    skills: reader.list("skills"),
    packages: reader.list("packages"),
  };
  reader.checkKeys();
  return { file, problems };
}

/** Makes a foreign text fit to be shown: on one line, and with nothing that moves or hides what stands around it. */
export function toLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim();
}

/** Puts a foreign text into quotes, and cuts it. */
export function quote(text: string): string {
  const line = Array.from(toLine(text));
  return JSON.stringify(line.length > MAX_QUOTED ? `${line.slice(0, MAX_QUOTED).join("")}…` : line.join(""));
}

function splitFile(resource: Resource, problems: Problem[]): { frontmatter: JsonObject; prompt: string } {
  const nothing = { frontmatter: {}, prompt: "" };
  let text: string;
  let frontmatter: JsonObject | undefined;
  try {
    text = resource.text();
    frontmatter = resource.frontmatter;
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    problems.push({ what: `it cannot be read: ${why}`, hint: "Make it readable, or take it away." });
    return nothing;
  }
  const fenced = FENCED.exec(text);
  if (!frontmatter || !fenced) {
    const what = "it has no front matter that can be read";
    const hint = "Begin it with a line ---, keys such as `tools: [read]` in YAML, each once, and another line ---.";
    problems.push({ what, hint });
    return nothing;
  }
  const [whole, rest = ""] = fenced;
  if (rest.trim() !== "") {
    // What stands below would count as the prompt: keys too.
    const hint = "End the front matter with a line that is --- and nothing else; put other texts into quotes.";
    problems.push({ what: `its front matter ends with ${quote(`---${rest.trimEnd()}`)}`, hint });
  }
  const prompt = text.slice(whole.length).replaceAll("\r\n", "\n").trim();
  if (prompt.startsWith("---")) {
    const hint = "One pair of lines --- holds all keys; begin the prompt with something else.";
    problems.push({ what: "its prompt begins with ---, as a front matter does", hint });
  }
  return { frontmatter, prompt };
}

/** Reads the values of a front matter, and collects what is wrong with them. `null` is an empty list, or no text. */
class KeyReader {
  private readonly values: JsonObject;
  private readonly problems: Problem[];

  constructor(values: JsonObject, problems: Problem[]) {
    this.values = values;
    this.problems = problems;
  }

  checkKeys(): void {
    for (const key of Object.keys(this.values)) {
      if (KEYS.includes(key)) continue;
      this.problems.push({ what: `the key ${quote(key)} is not known`, hint: hintForKey(key) });
    }
  }

  checkName(name: string): void {
    if (name === OFF || !NAME.test(name)) {
      const what = name === OFF ? "no agent can be called off" : `${quote(name)} is no name for an agent`;
      this.problems.push({ what, hint: "Rename the file: letters, digits, - _ and . make a name." });
    }
    const given = this.text("name");
    if (given === undefined || given === name) return;
    const hint = `The file's name is the agent's: rename the file, or write \`name: ${name}\`, or leave the key out.`;
    this.problems.push({ what: `it calls itself ${quote(given)}`, hint });
  }

  text(key: string): string | undefined {
    const value = this.valueOf(key) ?? undefined;
    if (value === undefined || (typeof value === "string" && value.trim() !== "")) return value?.trim();
    this.refuse(key, { must: "a text", value, hint: `Write ${key}: "…", or leave the key out.` });
    return undefined;
  }

  level(key: string): ThinkingLevel | undefined {
    const value = this.valueOf(key) ?? undefined;
    const level = LEVELS.find((each) => each === value);
    if (value === undefined || level) return level;
    const near = typeof value === "string" ? nearestName(value, LEVELS) : undefined;
    const hint = near ? `Did you mean ${near}?` : `Write one of them, or leave ${key} out.`;
    this.refuse(key, { must: `one of ${LEVELS.join(", ")}`, value, hint });
    return undefined;
  }

  list(key: string): string[] | undefined {
    const value = this.valueOf(key);
    if (value === undefined) return undefined;
    if (value === null) return [];
    const entries = typeof value === "string" ? value.split(",").filter((each) => each.trim() !== "") : value;
    if (Array.isArray(entries) && entries.every((each) => typeof each === "string" && each.trim() !== "")) {
      return entries.map((each) => (each as string).trim());
    }
    const hint = `Write ${key}: [one, another]; [] is none of them, and without the key all are there that are by default.`;
    this.refuse(key, { must: "a list of names", value, hint });
    return [];
  }

  private refuse(key: string, { must, value, hint }: { must: string; value: Json; hint: string }): void {
    this.problems.push({ what: `\`${key}\` must be ${must}, and is ${showValue(value)}`, hint });
  }

  private valueOf(key: string): Json | undefined {
    return Object.hasOwn(this.values, key) ? this.values[key] : undefined;
  }
}

function showValue(value: Json): string {
  return typeof value === "object" && value !== null
    ? Array.isArray(value)
      ? "another list"
      : "a map"
    : quote(String(value));
}

function hintForKey(key: string): string {
  if (RESTRICTION.test(key)) return "What restricts an agent is `tools`, a list of all the tools that it has.";
  const near = nearestName(key, KEYS);
  return near ? `Did you mean ${near}?` : `The keys are: ${KEYS.join(", ")}.`;
}
