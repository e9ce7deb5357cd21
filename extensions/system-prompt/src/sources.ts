import { existsSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Resource } from "@pi-agent/kernel";

// Docs are at most this far above the code, in the workspace as in a published package.
const MAX_LEVELS = 5;

/** Reads what a flag names: the file of that name where there is one, else the value itself. */
export function readTextOrFile(value: string, cwd: string): string {
  if (value.includes("\n") || value.includes("\0")) return value;
  const path = value.startsWith("~/") ? join(homedir(), value.slice(2)) : resolve(cwd, value);
  return isFile(path) ? new TextDecoder().decode(readFileSync(path)) : value;
}

/** The texts of the resources that may be used, without the blank ones. */
export function textsOf(resources: readonly Resource[]): { path: string; text: string }[] {
  return resources
    .filter(({ state }) => state === "loaded")
    .map((resource) => ({ path: resource.path, text: resource.text() }))
    .filter(({ text }) => text.trim() !== "");
}

/** Finds the folder with pi-agent's documentation at or above a folder. */
export function findDocs(from: string): string | undefined {
  let folder = from;
  for (let level = 0; level < MAX_LEVELS; level++) {
    const docs = join(folder, "docs");
    if (existsSync(join(docs, "write-an-extension.md"))) return docs;
    folder = dirname(folder);
  }
  return undefined;
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    // Nothing of that name, or a text that cannot be one: then it is the text that counts.
    return false;
  }
}
