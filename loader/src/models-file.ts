import { join } from "node:path";
import type { Json, JsonObject, Model } from "@pi-agent/kernel";
import { findMisfits, isJsonObject, type JsonSchema } from "./json-check.ts";
import { type FileProblem, placeOfKeys } from "./jsonc.ts";
import { type OwnFile, readOwnFile } from "./own-file.ts";
import { isCommand, namesIn, type ValueTemplate } from "./value-template.ts";

/** A model as `models.json` has it: all but the id may be left out. */
export type CustomModel = Partial<Omit<Model, "provider">> & { id: string };

/** A provider as `models.json` has it. */
export interface CustomProvider {
  id: string;
  name?: string;
  baseUrl?: string;
  api?: string;
  apiKey?: ValueTemplate;
  headers?: Record<string, ValueTemplate>;
  /** Sends the key as `Authorization: Bearer` too. */
  authHeader?: boolean;
  compat?: JsonObject;
  models: CustomModel[];
  /** By model id: what is changed of a model that the provider has already. */
  overrides: Map<string, CustomModel>;
}

export interface ModelsFile {
  readonly path: string;
  /** By id, in the order of the file, which is read at the first question. */
  providers(): ReadonlyMap<string, CustomProvider>;
  readonly problems: readonly FileProblem[];
  /** Makes a problem of something that stands in the file. */
  problemAt(keys: readonly string[], message: string, hint: string): FileProblem;
  /** Reads the file again; one that is broken now leaves what was in force. */
  reload(): void;
}

const TEXTS: JsonSchema = { type: "object", additionalProperties: { type: "string" } };
const PRICES: JsonSchema = {
  type: "object",
  properties: {
    input: { type: "number" },
    output: { type: "number" },
    cacheRead: { type: "number" },
    cacheWrite: { type: "number" },
    tiers: { type: "array", items: { type: "object" } },
  },
};
const MODEL: JsonSchema = {
  type: "object",
  required: ["id"],
  properties: {
    id: { type: "string" },
    name: { type: "string" },
    api: { type: "string" },
    baseUrl: { type: "string" },
    reasoning: { type: "boolean" },
    thinkingLevelMap: {
      type: "object",
      additionalProperties: { anyOf: [{ type: "string" }, { type: "null" }] },
    },
    input: { type: "array", items: { enum: ["text", "image"] } },
    inputLimits: { type: "object" },
    cost: PRICES,
    contextWindow: { type: "integer", minimum: 1 },
    maxTokens: { type: "integer", minimum: 1 },
    samplingParams: { type: "object" },
    headers: TEXTS,
    compat: { type: "object" },
  },
};
const PROVIDER: JsonSchema = {
  type: "object",
  properties: {
    name: { type: "string" },
    baseUrl: { type: "string" },
    api: { type: "string" },
    apiKey: { type: "string" },
    headers: TEXTS,
    authHeader: { type: "boolean" },
    compat: { type: "object" },
    models: { type: "array" },
    modelOverrides: { type: "object" },
  },
};

/** Opens `models.json` of an agent directory, which is in Pi's format. What is wrong in it is left out and told. */
export function openModelsFile(agentDir: string): ModelsFile {
  const path = join(agentDir, "models.json");
  let parsed: Parsed | undefined;
  const read = () => (parsed ??= parseModels(readOwnFile(path)));
  return {
    path,
    providers: () => read().providers,
    get problems() {
      return read().problems;
    },
    problemAt: (keys, message, hint) => read().problemAt(keys, message, hint),
    reload: () => {
      const file = readOwnFile(path);
      parsed = file.problem ? { ...read(), problems: [file.problem] } : parseModels(file);
    },
  };
}

interface Parsed {
  providers: Map<string, CustomProvider>;
  problems: FileProblem[];
  problemAt: ModelsFile["problemAt"];
}

type Tell = (keys: string[], message: string, hint: string) => void;

function parseModels(file: OwnFile): Parsed {
  const { path, text } = file;
  const problemAt: ModelsFile["problemAt"] = (keys, message, hint) => {
    return { path, ...placeOfKeys(text, keys), message, hint };
  };
  const problems: FileProblem[] = file.problem ? [file.problem] : [];
  const tell: Tell = (keys, message, hint) => problems.push(problemAt(keys, message, hint));
  const providers = new Map<string, CustomProvider>();
  const given = file.values.providers ?? {};
  if (!isJsonObject(given)) tell(["providers"], '"providers" is not an object.', "Write providers by their id.");
  for (const [id, value] of Object.entries(isJsonObject(given) ? given : {})) {
    const keys = ["providers", id];
    if (isProvider(value, { keys, tell })) providers.set(id, parseProvider(id, value, { keys, tell }));
  }
  return { providers, problems, problemAt };
}

type ProviderText = Omit<CustomProvider, "id" | "models" | "overrides"> & {
  models?: Json[];
  modelOverrides?: JsonObject;
};

function parseProvider(id: string, value: ProviderText, at: { keys: string[]; tell: Tell }): CustomProvider {
  const { models = [], modelOverrides = {}, ...provider } = value;
  const place = (...keys: string[]) => ({ tell: at.tell, keys: [...at.keys, ...keys] });
  const custom: CustomProvider = { ...provider, id, models: [], overrides: new Map() };
  for (const [index, model] of models.entries()) {
    if (isModel(model, place("models", String(index)))) custom.models.push(model);
  }
  for (const [modelId, override] of Object.entries(modelOverrides)) {
    const described = isJsonObject(override) ? { ...override, id: modelId } : override;
    if (isModel(described, place("modelOverrides", modelId))) custom.overrides.set(modelId, described);
  }
  return custom;
}

function isProvider(value: unknown, at: { keys: string[]; tell: Tell }): value is ProviderText {
  return !tellMisfit(PROVIDER, value, at);
}

function isModel(value: unknown, at: { keys: string[]; tell: Tell }): value is CustomModel {
  if (tellMisfit(MODEL, value, at) || !isJsonObject(value)) return false;
  // A model is shown to whoever asks, so it may not hold a secret; a provider's headers are filled in per request.
  const refers = (header: string) => isCommand(header) || namesIn(header).length > 0;
  if (!Object.values(value.headers ?? {}).some((header) => header && refers(header))) return true;
  const message = `The headers of ${at.keys.slice(1).join(".")} refer to a variable or a command.`;
  at.tell([...at.keys, "headers"], message, "Move them to the provider's headers. The model is left out until then.");
  return false;
}

function tellMisfit(schema: JsonSchema, value: unknown, at: { keys: string[]; tell: Tell }): boolean {
  const misfit = findMisfits(schema, value)[0];
  if (!misfit) return false;
  const name = [...at.keys.slice(1), ...misfit.keys].join(".");
  at.tell([...at.keys, ...misfit.keys], `${name} does not fit: ${misfit.message}.`, "It is left out until then.");
  return true;
}
