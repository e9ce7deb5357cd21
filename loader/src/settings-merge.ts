import type { Json, JsonObject } from "@pi-agent/kernel";
import { isJsonObject } from "./json-check.ts";
import type { SettingSchema } from "./settings-schema.ts";

/** Lays `upper` over `lower`: objects key by key, everything else replaces; `x-combine` lists are joined. */
export function mergeSettings(schema: SettingSchema, lower: JsonObject, upper: JsonObject): JsonObject {
  const merged: JsonObject = { ...lower };
  for (const [key, value] of Object.entries(upper)) {
    if (key === "__proto__") continue;
    merged[key] = mergeValue(memberOf(schema, key), merged[key], value);
  }
  return merged;
}

/** Collects the defaults of all keys. */
export function defaultsOf(schema: SettingSchema): JsonObject {
  const defaults: JsonObject = {};
  for (const [key, member] of Object.entries(schema.properties ?? {})) {
    if (member.default !== undefined) defaults[key] = member.default;
    else if (isGroup(member)) defaults[key] = defaultsOf(member);
  }
  return defaults;
}

/** Applies a list of tools to the one below it: plain names replace it, then `+name` and `-name` add and remove. */
export function applyToolList(lower: readonly string[], list: readonly string[]): string[] {
  const plain = list.filter((entry) => !/^[+-]/.test(entry));
  const names = new Set(plain.length > 0 || list.length === 0 ? plain : lower);
  for (const entry of list) {
    if (entry.startsWith("+")) names.add(entry.slice(1));
    if (entry.startsWith("-")) names.delete(entry.slice(1));
  }
  return [...names];
}

export function memberOf(schema: SettingSchema | undefined, key: string): SettingSchema | undefined {
  return schema?.properties && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
}

/** Tells a group of keys from a key whose value happens to be an object. */
export function isGroup(schema: SettingSchema): boolean {
  return schema.properties !== undefined && schema["x-project"] === undefined;
}

/** Finds the value at `a.b.c`. */
export function valueAt(values: JsonObject, key: string): Json | undefined {
  let value: Json | undefined = values;
  for (const part of key.split(".")) {
    if (!isJsonObject(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

/** Lists the keys, `a.b` at their finest, whose values differ. */
export function changedKeys(before: JsonObject, after: JsonObject, prefix = ""): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => {
    const [was, is] = [before[key], after[key]];
    if (isJsonObject(was) && isJsonObject(is)) return changedKeys(was, is, `${prefix}${key}.`);
    return JSON.stringify(was) === JSON.stringify(is) ? [] : [prefix + key];
  });
}

function mergeValue(schema: SettingSchema | undefined, lower: Json | undefined, upper: Json): Json {
  if (isJsonObject(upper)) return mergeSettings(schema ?? {}, isJsonObject(lower) ? lower : {}, upper);
  if (!Array.isArray(lower) || !Array.isArray(upper)) return upper;
  if (schema?.["x-combine"] === "tools") return applyToolList(lower.map(String), upper.map(String));
  return schema?.["x-combine"] === "append" ? joinLists(lower, upper) : upper;
}

function joinLists(lower: Json[], upper: Json[]): Json[] {
  const seen = new Set(lower.map((value) => JSON.stringify(value)));
  return [...lower, ...upper.filter((value) => !seen.has(JSON.stringify(value)))];
}
