import { AgentError, type Model, type ProviderAuth, type Services } from "@pi-agent/kernel";
import { type AuthFile, openAuthFile, type StoredAuth } from "./auth-file.ts";
import type { FileProblem } from "./jsonc.ts";
import { listModels } from "./model-table.ts";
import type { ModelsFile } from "./models-file.ts";
import type { Programs } from "./programs.ts";
import { listProviders, type ProviderRow, type RegistryOf, tellRedirect } from "./provider-table.ts";
import {
  fillTemplate,
  isCommand,
  type Lookup,
  namesIn,
  type Place,
  type Resolved,
  resolveValue,
  type ValueTemplate,
} from "./value-template.ts";

export type CredentialStore = Services["credentials"] & {
  /** What is wrong with `auth.json`. */
  readonly problems: readonly FileProblem[];
  /** Says whether a key for the provider is at hand, or none is needed; runs no command to find out. */
  has(provider: string): boolean;
  /** Says whether there is a key for it; a provider that needs none has none. */
  hasKey(provider: string): boolean;
  /** Takes the key of `--api-key`, for this process and this provider only. */
  useApiKey(provider: string, key: string): void;
  /** Forgets what commands printed. `auth.json` is read at every question anyway. */
  reload(): void;
};

export interface CredentialOptions {
  agentDir: string;
  registry: RegistryOf;
  modelsFile: ModelsFile;
  /** Default: the process's. */
  env?: NodeJS.ProcessEnv;
  /** Gives commands their PATH. Default: PATH as it is in `env`. */
  programs?: Pick<Programs, "environment">;
}

/**
 * Opens the credentials of an agent directory; nothing is read before the first question.
 *
 *   --api-key ─► auth.json ─► models.json ─► environment ─► no_key
 *
 * A provider that a project defined gets none of them, and neither does a model that sends them elsewhere (T4).
 */
export function openCredentials(options: CredentialOptions): CredentialStore {
  return new Credentials(options);
}

class Credentials implements CredentialStore {
  #options: CredentialOptions & { env: NodeJS.ProcessEnv };
  #auth: AuthFile;
  #given = new Map<string, string>();
  #printed = new Map<string, Promise<Resolved>>();

  constructor(options: CredentialOptions) {
    this.#options = { env: process.env, ...options };
    this.#auth = openAuthFile(options.agentDir);
  }

  get problems(): readonly FileProblem[] {
    return this.#auth.problems;
  }

  useApiKey(provider: string, key: string): void {
    this.#given.set(provider, key);
  }

  reload(): void {
    this.#printed.clear();
  }

  names(): string[] {
    const stored = [...this.#auth.entries().values()];
    const rows = [...this.#rows().values()];
    return [
      ...new Set([
        ...this.#options.registry("secret").keys(),
        ...rows.flatMap(({ env }) => env),
        ...stored.flatMap(({ key, env }) => [...namesIn(key ?? ""), ...Object.keys(env)]),
        ...rows.flatMap(({ custom }) =>
          [custom?.apiKey ?? "", ...Object.values(custom?.headers ?? {})].flatMap(namesIn),
        ),
      ]),
    ];
  }

  has(provider: string): boolean {
    const row = this.#rows().get(provider);
    if (!row) return false;
    return this.hasKey(provider) || !(needsKey(row) || this.#auth.entries().has(provider));
  }

  hasKey(provider: string): boolean {
    const row = this.#rows().get(provider);
    if (!row || row.keylessBecause !== undefined) return false;
    const stored = this.#auth.entries().get(provider);
    const lookup = this.#lookup(stored);
    const template = stored?.key ?? row.custom?.apiKey;
    if (this.#given.has(provider)) return true;
    if (template === undefined) return row.env.some((name) => lookup(name));
    return isCommand(template) || "value" in fillTemplate(template, lookup);
  }

  async resolve(provider: string, model?: Model): Promise<ProviderAuth> {
    const row = this.#rows().get(provider);
    if (!row) return {};
    const stored = this.#auth.entries().get(provider);
    const keylessBecause = row.keylessBecause ?? this.#tellRedirect(row, model);
    if (keylessBecause !== undefined) {
      if (needsKey(row) || stored || this.#given.has(provider)) throw withheldKey(row, keylessBecause);
      return {};
    }
    const auth: ProviderAuth = {};
    const apiKey = await this.#findKey(row, stored);
    if (apiKey !== undefined) auth.apiKey = apiKey;
    const headers = await this.#fillHeaders(row, this.#lookup(stored));
    if (row.custom?.authHeader && apiKey !== undefined) headers.Authorization = `Bearer ${apiKey}`;
    if (Object.keys(headers).length > 0) auth.headers = headers;
    // A model that names no place goes where its provider is, and not where others speak the same.
    const baseUrl = row.custom?.baseUrl ?? row.definition?.baseUrl;
    if (model && model.baseUrl === undefined && baseUrl !== undefined) auth.baseUrl = baseUrl;
    return auth;
  }

  #tellRedirect(row: ProviderRow, model: Model | undefined): string | undefined {
    const { registry } = this.#options;
    return model && tellRedirect(row, model, { registry, known: listModels(row, registry) });
  }

  async #findKey(row: ProviderRow, stored: StoredAuth | undefined): Promise<string | undefined> {
    const lookup = this.#lookup(stored);
    const given = this.#given.get(row.id);
    if (given !== undefined) return given;
    if (stored?.key !== undefined) {
      return need(await this.#resolveStored(stored.key, lookup), `${this.#auth.path} has for ${row.id}`);
    }
    if (row.custom?.apiKey !== undefined) {
      const { modelsFile } = this.#options;
      return need(await resolveValue(row.custom.apiKey, lookup, this.#place()), `${modelsFile.path} has for ${row.id}`);
    }
    const name = row.env.find((each) => lookup(each));
    if (name !== undefined) return lookup(name);
    if (needsKey(row)) throw noKey(row, stored, { auth: this.#auth.path, models: this.#options.modelsFile.path });
    return undefined;
  }

  /** A stored command asks for a password or a touch: what it printed is kept, what failed is tried again. */
  async #resolveStored(key: ValueTemplate, lookup: Lookup): Promise<Resolved> {
    if (!isCommand(key)) return fillTemplate(key, lookup);
    const printed = this.#printed.get(key) ?? resolveValue(key, lookup, this.#place());
    this.#printed.set(key, printed);
    const resolved = await printed;
    if ("why" in resolved) this.#printed.delete(key);
    return resolved;
  }

  async #fillHeaders({ id, custom }: ProviderRow, lookup: Lookup): Promise<Record<string, string>> {
    const headers: Record<string, string> = {};
    for (const [name, template] of Object.entries(custom?.headers ?? {})) {
      const resolved = await resolveValue(template, lookup, this.#place());
      headers[name] = need(resolved, `${this.#options.modelsFile.path} has for the header ${name} of ${id}`);
    }
    return headers;
  }

  #lookup(stored: StoredAuth | undefined): Lookup {
    return (name) => stored?.env[name] ?? this.#options.env[name];
  }

  #place(): Place {
    const { agentDir, env, programs } = this.#options;
    return { cwd: agentDir, env: programs?.environment() ?? env };
  }

  #rows(): Map<string, ProviderRow> {
    return listProviders(this.#options.registry, this.#options.modelsFile);
  }
}

function needsKey({ env, custom }: ProviderRow): boolean {
  return env.length > 0 || custom?.apiKey !== undefined;
}

function need(resolved: Resolved, place: string): string {
  if ("value" in resolved) return resolved.value;
  throw new AgentError("no_key", `The value that ${place} cannot be had: ${resolved.why}.`, {
    hint: "Set what it refers to, or write the value itself. To go on without a key, run: pi demo",
  });
}

function noKey(row: ProviderRow, stored: StoredAuth | undefined, paths: { auth: string; models: string }): AgentError {
  const looked = row.env.length > 0 ? `${row.env.join(", ")} in the environment, ` : "";
  const login = stored?.otherType ? ` (its ${stored.otherType} login there cannot be used here)` : "";
  const message = `There is no key for ${row.name}: looked for ${looked}an entry in ${paths.auth}${login}, an "apiKey" in ${paths.models} and --api-key.`;
  const example = JSON.stringify({ [row.id]: { type: "api_key", key: "…" } });
  const set = row.env.length > 0 ? `Set ${row.env[0]}, or write` : "Write";
  const hint = `${set} ${example} into ${paths.auth}. To go on without a key, run: pi demo`;
  return new AgentError("no_key", message, { hint });
}

function withheldKey({ name }: ProviderRow, keylessBecause: string): AgentError {
  return new AgentError("no_key", `No key is given to ${name}, because ${keylessBecause}.`, {
    hint: "If you want it to have your key, define the provider yourself, in models.json or in an extension of your own.",
  });
}
