import { join } from "node:path";
import type { JsonObject } from "@pi-agent/kernel";
import { isJsonObject } from "./json-check.ts";
import { type FileProblem, placeOfKeys } from "./jsonc.ts";
import { type OwnFile, readOwnFile } from "./own-file.ts";
import type { ValueTemplate } from "./value-template.ts";

/** What `auth.json` holds for a provider. `env` stands over the process's environment for that provider. */
export interface StoredAuth {
  key?: ValueTemplate;
  env: Record<string, string>;
  /** Another kind of login, which we cannot use. */
  otherType?: string;
}

export interface AuthFile {
  readonly path: string;
  /** Reads the file anew, so that a login in another process counts; while it cannot be read the last values hold. */
  entries(): ReadonlyMap<string, StoredAuth>;
  readonly problems: readonly FileProblem[];
}

/** Opens `auth.json` of an agent directory; it is read at the first question. */
export function openAuthFile(agentDir: string): AuthFile {
  const path = join(agentDir, "auth.json");
  let entries = new Map<string, StoredAuth>();
  let problems: FileProblem[] = [];
  const read = () => {
    const file = readOwnFile(path);
    problems = [...(file.problem ? [file.problem] : []), ...tellExposed(file)];
    if (!file.problem) entries = parseEntries(file, problems);
    return entries;
  };
  return {
    path,
    entries: read,
    get problems() {
      read();
      return problems;
    },
  };
}

function parseEntries(file: OwnFile, problems: FileProblem[]): Map<string, StoredAuth> {
  const entries = new Map<string, StoredAuth>();
  for (const [provider, value] of Object.entries(file.values)) {
    const entry = parseEntry(value);
    if (entry) entries.set(provider, entry);
    else problems.push(misshapen(file, provider));
  }
  return entries;
}

function parseEntry(value: unknown): StoredAuth | undefined {
  if (!isJsonObject(value) || typeof value.type !== "string") return undefined;
  const { type, key, env = {} } = value;
  if (type !== "api_key") return { env: {}, otherType: type };
  if (!(key === undefined || typeof key === "string") || !isTextMap(env)) return undefined;
  return { key, env };
}

function isTextMap(value: unknown): value is JsonObject & Record<string, string> {
  return isJsonObject(value) && Object.values(value).every((member) => typeof member === "string");
}

function misshapen({ path, text }: OwnFile, provider: string): FileProblem {
  const message = `The entry of ${provider} is not one that can be used.`;
  const hint = 'Write it as { "type": "api_key", "key": "…" }, with "env" where the provider needs more.';
  return { path, ...placeOfKeys(text, [provider]), message, hint };
}

function tellExposed({ path, stats }: OwnFile): FileProblem[] {
  if (!stats || process.platform === "win32" || (stats.mode & 0o077) === 0) return [];
  return [{ path, message: "Other accounts of this machine may read or write it.", hint: `Run: chmod 600 ${path}` }];
}
