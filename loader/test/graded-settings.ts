/** Every key of settings.json, with canary values: made from the schema, so that new keys are covered. */
import type { Json, JsonObject } from "@pi-agent/kernel";
import { isGroup } from "../src/settings-merge.ts";
import type { SettingSchema } from "../src/settings-schema.ts";

/** Lists the keys, `a.b` at their finest, with the schema of each. */
export function leaves(schema: SettingSchema, prefix = ""): [string, SettingSchema][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]): [string, SettingSchema][] =>
    isGroup(member) ? leaves(member, `${prefix}${name}.`) : [[prefix + name, member]],
  );
}

/** Makes a value that fits, other than the default. */
export function canaryOf({
  type,
  enum: choices,
  default: usual,
  minimum,
  anyOf,
  additionalProperties,
}: SettingSchema): Json {
  if (typeof additionalProperties === "object") return { canary: canaryOf(additionalProperties) };
  if (anyOf) return 7;
  if (choices) return choices.find((choice) => choice !== usual) ?? null;
  if (type === "boolean") return usual !== true;
  if (type === "number" || type === "integer") return (minimum ?? 0) + 1;
  return type === "array" ? ["canary"] : type === "object" ? { canary: 1 } : "canary";
}

/** Puts values where their keys say. */
export function nest(values: Iterable<readonly [string, Json]>): JsonObject {
  const nested: JsonObject = {};
  for (const [key, value] of values) {
    const names = key.split(".");
    const last = names.pop()!;
    let place = nested;
    for (const name of names) place = (place[name] ??= {}) as JsonObject;
    place[last] = value;
  }
  return nested;
}

/** Lists the keys that do not say what a project may do to them, or say it wrongly. */
export function ungraded(schema: SettingSchema): string[] {
  const grades = ["allow", "tighten", "consent", "never"];
  const ways = ["fewer", "lower", "on"];
  return leaves(schema)
    .filter(([, { "x-project": grade, "x-tighten": way }]) => {
      return !grades.includes(grade ?? "") || (grade === "tighten") !== ways.includes(way ?? "");
    })
    .map(([key]) => key);
}
