import type { Json, JsonObject, Model } from "@pi-agent/kernel";
import { isJsonObject } from "./json-check.ts";
import type { CustomModel } from "./models-file.ts";
import type { ProviderRow, RegistryOf } from "./provider-table.ts";

// Pi's, for what a model of `models.json` leaves out.
const CONTEXT_WINDOW = 128_000;
const MAX_TOKENS = 16_384;

/** Lists the models of a provider: its own, those that extensions add, and what `models.json` adds and changes. */
export function listModels(row: ProviderRow, registry: RegistryOf): Model[] {
  const models = new Map<string, Model>();
  for (const model of row.definition?.models ?? []) models.set(model.id, placeModel(model, row));
  for (const { value, owner } of registry("model").values()) {
    if (value.provider !== row.id) continue;
    const isProjects = owner.scope === "project";
    if (isProjects && models.has(value.id)) continue;
    models.set(value.id, placeModel(isProjects ? withoutPlace(value, row) : value, row));
  }
  for (const custom of row.custom?.models ?? []) {
    const model = completeModel(custom, row);
    if (model) models.set(custom.id, model);
  }
  for (const [id, override] of row.custom?.overrides ?? []) {
    const model = models.get(id);
    if (model) models.set(id, overrideModel(model, override));
  }
  return [...models.values()].map(freezeDeep);
}

/** Models are shown to everybody: nobody changes where one sends its requests (T4). */
function freezeDeep<T extends object>(value: T): T {
  if (Object.isFrozen(value)) return value;
  for (const each of Object.values(value)) if (typeof each === "object" && each !== null) freezeDeep(each as object);
  return Object.freeze(value);
}

/** Makes a whole model of one in `models.json`; `undefined` when nobody says what it speaks, or where. */
export function completeModel(spec: CustomModel, { id, definition, custom }: ProviderRow): Model | undefined {
  const api = spec.api ?? custom?.api ?? definition?.api;
  const baseUrl = spec.baseUrl ?? custom?.baseUrl ?? definition?.baseUrl;
  if (api === undefined || (baseUrl === undefined && !definition)) return undefined;
  return {
    reasoning: false,
    input: ["text"],
    contextWindow: CONTEXT_WINDOW,
    maxTokens: MAX_TOKENS,
    ...spec,
    name: spec.name ?? spec.id,
    provider: id,
    api,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...spec.cost },
    ...(custom?.compat ? { compat: mergeDeep(custom.compat, spec.compat) } : {}),
  };
}

/** Puts a provider's model where the person's file says that it is. The same object when nothing changes. */
function placeModel(model: Model, { id, definition, custom }: ProviderRow): Model {
  const baseUrl = custom?.baseUrl ?? model.baseUrl ?? definition?.baseUrl;
  if (baseUrl === model.baseUrl && model.provider === id && !custom?.compat) return model;
  const compat = custom?.compat ? mergeDeep(model.compat ?? {}, custom.compat) : model.compat;
  return { ...model, provider: id, baseUrl, compat };
}

/** A project may name another model of a provider, but not where its requests go or what they carry (T4). */
function withoutPlace(model: Model, { definition, custom, keylessBecause }: ProviderRow): Model {
  if (keylessBecause !== undefined) return model;
  const { baseUrl: _baseUrl, headers: _headers, ...rest } = model;
  return { ...rest, api: custom?.api ?? definition?.api ?? model.api };
}

function overrideModel(model: Model, override: CustomModel): Model {
  const merged: Model = { ...model, ...override, cost: { ...model.cost, ...override.cost } };
  if (override.headers) merged.headers = { ...model.headers, ...override.headers };
  if (override.thinkingLevelMap) {
    merged.thinkingLevelMap = { ...model.thinkingLevelMap, ...override.thinkingLevelMap };
  }
  for (const field of ["compat", "samplingParams", "inputLimits"] as const) {
    if (override[field]) merged[field] = mergeDeep(model[field] ?? {}, override[field]);
  }
  return merged;
}

function mergeDeep(lower: JsonObject, upper: JsonObject = {}): JsonObject {
  const merged: JsonObject = { ...lower };
  for (const [key, value] of Object.entries(upper)) merged[key] = mergeJson(merged[key], value);
  return merged;
}

function mergeJson(lower: Json | undefined, upper: Json): Json {
  return isJsonObject(lower) && isJsonObject(upper) ? mergeDeep(lower, upper) : upper;
}
