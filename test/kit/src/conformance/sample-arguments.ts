import type { Json, JsonObject } from "@pi-agent/kernel";
import { isObject, isObjectArray } from "../wire-server/json-values.ts";

/** Makes the smallest arguments that a tool's schema asks for: what is required, at its default or as little as fits. */
export function sampleArguments(schema: unknown): JsonObject {
  const sample = sampleOf(schema);
  return isObject(sample) ? (sample as JsonObject) : {};
}

function sampleOf(schema: unknown): Json {
  if (!isObject(schema)) return null;
  if ("const" in schema) return schema.const as Json;
  if ("default" in schema) return schema.default as Json;
  for (const list of [schema.enum, schema.examples]) {
    if (Array.isArray(list) && list.length > 0) return list[0] as Json;
  }
  const arms = schema.anyOf ?? schema.oneOf;
  if (isObjectArray(arms) && arms.length > 0) return sampleOf(arms[0]);
  const type: unknown = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  return SAMPLES[String(type)]?.(schema) ?? null;
}

const SAMPLES: Record<string, (schema: Record<string, unknown>) => Json> = {
  string: ({ minLength, maxLength }) =>
    "sample".padEnd(Number(minLength ?? 0), "e").slice(0, Number(maxLength ?? 1_000)),
  number: ({ minimum, exclusiveMinimum }) => Number(minimum ?? Number(exclusiveMinimum ?? 0) + 1),
  integer: ({ minimum, exclusiveMinimum }) => Number(minimum ?? Number(exclusiveMinimum ?? 0) + 1),
  boolean: () => false,
  array: ({ items, minItems }) => Array.from({ length: Number(minItems ?? 0) }, () => sampleOf(items)),
  object({ properties, required }) {
    const known = isObject(properties) ? properties : {};
    const names = Array.isArray(required) ? required.map(String) : [];
    return Object.fromEntries(names.map((name) => [name, sampleOf(known[name])]));
  },
};
