import { readFileSync, type Stats, statSync } from "node:fs";
import type { JsonObject } from "@pi-agent/kernel";
import { isJsonObject } from "./json-check.ts";
import { type FileProblem, JsonFault, parseJsonc, placeOf } from "./jsonc.ts";

/** What became of reading a file of the person's own. Missing is an empty text without a problem. */
export interface OwnFile {
  path: string;
  text: string;
  values: JsonObject;
  /** There, but it could not be read or parsed: `values` is empty. */
  problem?: FileProblem;
  stats?: Stats;
}

/** Reads a JSON file with comments from the agent directory. Never fails: `problem` says what is wrong. */
export function readOwnFile(path: string): OwnFile {
  let stats: Stats;
  try {
    stats = statSync(path);
    // Anything else (a pipe, a device) could wait for ever.
    if (!stats.isFile()) return unreadable(path, "it is not a regular file");
  } catch (cause) {
    if (isMissing(cause)) return { path, text: "", values: {} };
    return unreadable(path, messageOf(cause));
  }
  try {
    return { ...parseOwnText(path, readFileSync(path, "utf8")), stats };
  } catch (cause) {
    return unreadable(path, messageOf(cause));
  }
}

/** Parses the text of such a file. */
export function parseOwnText(path: string, text: string): OwnFile {
  try {
    const values = parseJsonc(text);
    if (isJsonObject(values)) return { path, text, values };
    return broken(path, text, { offset: 0, message: "expected an object in braces" });
  } catch (fault) {
    if (fault instanceof JsonFault) return broken(path, text, fault);
    throw fault;
  }
}

export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

function isMissing(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && (cause.code === "ENOENT" || cause.code === "ENOTDIR");
}

function broken(path: string, text: string, fault: { offset: number; message: string }): OwnFile {
  const place = placeOf(text, fault.offset);
  const message = `It is not valid JSON: ${fault.message}.`;
  const hint = "Mend it there. Until then it counts as empty, and nothing is written to it.";
  return { path, text, values: {}, problem: { path, ...place, message, hint } };
}

function unreadable(path: string, why: string): OwnFile {
  const message = `It could not be read: ${why}.`;
  const hint = "Make it a readable file. Until then it counts as empty, and nothing is written to it.";
  return { path, text: "", values: {}, problem: { path, message, hint } };
}
