import type { Model, Services, ThinkingLevel } from "@pi-agent/kernel";
import type { CredentialStore } from "./credentials.ts";
import { isJsonObject } from "./json-check.ts";
import type { FileProblem } from "./jsonc.ts";
import { type Found, findModel, isLevel, type Known, unknownProvider } from "./model-reference.ts";
import { completeModel, listModels } from "./model-table.ts";
import type { ModelsFile } from "./models-file.ts";
import { listProviders, type ProviderRow, type RegistryOf } from "./provider-table.ts";
import type { SettingsStore } from "./settings.ts";

export type ModelStore = Services["models"] & {
  /** What is wrong with `models.json`. */
  readonly problems: readonly FileProblem[];
  /**
   * Finds the model to begin with: the settings' default if it has a key, else the first model of the first provider
   * with a key, of `provider` if one is named. `undefined` when nobody has a key. Fails with `unknown_provider`.
   */
  initial(provider?: string): Found | undefined;
};

export interface ModelOptions {
  registry: RegistryOf;
  modelsFile: ModelsFile;
  credentials: Pick<CredentialStore, "has" | "hasKey">;
  settings: Pick<SettingsStore, "get">;
}

// Whom to ask when the person has keys for several and has not said: the vendors' own services first.
const PREFERENCE: readonly string[] = ["anthropic", "openai", "google"];

/** Opens the models: what providers registered, with `models.json` over it. Nothing is read before the first question. */
export function openModels(options: ModelOptions): ModelStore {
  const { registry, modelsFile, credentials } = options;
  const rows = () => [...listProviders(registry, modelsFile).values()];
  const list = () => rows().flatMap((row) => listModels(row, registry));
  const known = (): Known => ({
    models: list(),
    providers: rows().map(({ id }) => id),
    isUsable: (provider) => credentials.has(provider),
  });
  return {
    list,
    resolve: (reference, provider) => findModel(known(), reference, provider),
    hasCredentials: (provider) => credentials.has(provider),
    initial(provider) {
      const model = provider === undefined ? findInitial(options, rows()) : firstOf(options, rows(), provider);
      return model && { model, thinkingLevel: levelFor(options, model) };
    },
    get problems() {
      return [...modelsFile.problems, ...rows().flatMap((row) => tellIncomplete(row, modelsFile))];
    },
  };
}

function findInitial(options: ModelOptions, rows: readonly ProviderRow[]): Model | undefined {
  const { registry, credentials } = options;
  const preferred = savedDefault(options, rows);
  if (preferred && credentials.has(preferred.provider)) return preferred;
  const rank = ({ id }: ProviderRow) => PREFERENCE.indexOf(id) + 1 || PREFERENCE.length + 1;
  // One that needs no key is taken unasked only where the person wrote it down: a cassette answers nobody by itself.
  const isReady = ({ id, custom }: ProviderRow) => credentials.hasKey(id) || (custom && credentials.has(id));
  const ready = rows.filter(isReady).toSorted((a, b) => rank(a) - rank(b));
  return ready.flatMap((row) => listModels(row, registry))[0];
}

function firstOf(options: ModelOptions, rows: readonly ProviderRow[], provider: string): Model | undefined {
  const row = rows.find(({ id }) => id.toLowerCase() === provider.toLowerCase());
  if (!row) throw unknownProvider({ providers: rows.map(({ id }) => id) }, provider);
  const preferred = savedDefault(options, [row]);
  return preferred ?? listModels(row, options.registry)[0];
}

function savedDefault({ registry, settings }: ModelOptions, rows: readonly ProviderRow[]): Model | undefined {
  const row = rows.find(({ id }) => id === settings.get("defaultProvider"));
  return row && listModels(row, registry).find(({ id }) => id === settings.get("defaultModel"));
}

function levelFor({ settings }: ModelOptions, { provider, id }: Model): ThinkingLevel | undefined {
  const levels = settings.get("modelThinkingLevels");
  const own = isJsonObject(levels) ? levels[`${provider}/${id}`] : undefined;
  const level = own ?? settings.get("defaultThinkingLevel");
  return typeof level === "string" && isLevel(level) ? level : undefined;
}

function tellIncomplete(row: ProviderRow, file: ModelsFile): FileProblem[] {
  const { id, custom } = row;
  const lost = custom?.models.filter((model) => completeModel(model, row) === undefined) ?? [];
  if (lost.length === 0) return [];
  const names = lost.map((model) => model.id).join(", ");
  const message = `${id} lacks "baseUrl" or "api", so these models are left out: ${names}.`;
  const hint = "No package that is loaded brings this provider: give it both, or load the package.";
  return [file.problemAt(["providers", id], message, hint)];
}
