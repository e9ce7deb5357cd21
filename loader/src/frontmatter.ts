import type { JsonObject } from "@pi-agent/kernel";
import { isJsonObject } from "./json-check.ts";

/** A YAML parser, handed in because it is only loaded when there is something to parse. */
export type ParseYaml = (text: string) => unknown;

// Front matter is a few lines; more than this is no description of anything.
const MAX_LENGTH = 64 << 10;
const BLOCK = /^---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---/;

/** Loads the YAML parser. */
export async function loadYaml(): Promise<ParseYaml> {
  const { parse } = await import("yaml");
  return (text) => parse(text, { maxAliasCount: 20, prettyErrors: false, logLevel: "error" });
}

/** Reads the front matter of a Markdown text; `undefined` where there is none, or none that can be read. */
export function readFrontmatter(text: string, parseYaml: ParseYaml): JsonObject | undefined {
  const block = BLOCK.exec(text.replace(/^\uFEFF/, "").slice(0, MAX_LENGTH))?.[1];
  if (block === undefined) return undefined;
  try {
    const value = parseYaml(block.replaceAll("\r\n", "\n"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
