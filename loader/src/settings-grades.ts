import type { Json, JsonObject } from "@pi-agent/kernel";
import { findMisfits, isJsonObject } from "./json-check.ts";
import { applyToolList, isGroup, memberOf, valueAt } from "./settings-merge.ts";
import type { Grade, SettingSchema } from "./settings-schema.ts";

/** One value of a project's settings, with what it may do. */
export interface GradedSetting {
  /** `a.b` */
  key: string;
  value: Json;
  /** `unknown`: nobody has said what a project may do to this key, so it does nothing. */
  grade: Grade | "unknown";
}

/** A value of a project's settings that is not in force, or not all of it. */
export interface WithheldSetting extends GradedSetting {
  reason: string;
}

// Where requests go and what they carry is the person's alone, in whatever key it hides.
const NEVER =
  /^(?:__proto__|constructor|prototype|api_?keys?|base_?urls?|.*proxy|registr(?:y|ies)|headers|tokens?|env)$/i;

/** Lists a project's settings, key by key, with the grade of each. */
export function gradeSettings(schema: SettingSchema, values: JsonObject, prefix = ""): GradedSetting[] {
  return Object.entries(values).flatMap(([name, value]): GradedSetting[] => {
    const key = prefix + name;
    if (NEVER.test(name)) return [{ key, value, grade: "never" }];
    const member = memberOf(schema, name);
    if (member && isGroup(member) && isJsonObject(value)) return gradeSettings(member, value, `${key}.`);
    if (namesEndpoint(value)) return [{ key, value, grade: "never" }];
    const misfit = member && findMisfits(member, value).length > 0;
    return [{ key, value, grade: misfit ? "unknown" : (member?.["x-project"] ?? "unknown") }];
  });
}

/** Takes what a project may set over `lower`, which is what the person has. */
export function takeProjectSettings(
  schema: SettingSchema,
  lower: JsonObject,
  project: { values: JsonObject; consent: boolean },
): { values: JsonObject; withheld: WithheldSetting[] } {
  const values: JsonObject = {};
  const withheld: WithheldSetting[] = [];
  for (const setting of gradeSettings(schema, project.values)) {
    const taken = take(setting, schemaAt(schema, setting.key), valueAt(lower, setting.key), project.consent);
    if (taken.value !== undefined) setAt(values, setting.key, taken.value);
    if (taken.reason !== undefined) withheld.push({ ...setting, reason: taken.reason });
  }
  return { values, withheld };
}

/** Finds the schema of the key `a.b`. */
export function schemaAt(schema: SettingSchema, key: string): SettingSchema | undefined {
  return key.split(".").reduce<SettingSchema | undefined>(memberOf, schema);
}

function take(
  { value, grade }: GradedSetting,
  schema: SettingSchema | undefined,
  lower: Json | undefined,
  consent: boolean,
): { value?: Json; reason?: string } {
  if (grade === "allow") return { value };
  if (grade === "consent") return consent ? { value } : { reason: "waits for your consent" };
  if (grade === "never") return { reason: "is yours alone to set" };
  if (grade === "unknown" || !schema) return { reason: "is not a setting that a project may make" };
  const tightened = tighten(schema, lower, value);
  const isWhole = JSON.stringify(tightened) === JSON.stringify(value);
  return { value: tightened, reason: isWhole ? undefined : "may only narrow what you have" };
}

function tighten(schema: SettingSchema, lower: Json | undefined, upper: Json): Json | undefined {
  if (schema["x-tighten"] === "on") return upper === true ? true : undefined;
  const noLimit = schema["x-no-limit"];
  if (noLimit !== undefined && upper === noLimit) return undefined;
  if (lower === undefined || (noLimit !== undefined && lower === noLimit)) return upper;
  if (schema["x-tighten"] === "lower") return Math.min(Number(lower), Number(upper));
  if (!Array.isArray(lower) || !Array.isArray(upper)) return undefined;
  const allowed = lower.map(String);
  const wanted = upper.map(String);
  const list = schema["x-combine"] === "tools" ? applyToolList(allowed, wanted) : wanted;
  return list.filter((name) => allowed.includes(name));
}

function namesEndpoint(value: Json): boolean {
  if (Array.isArray(value)) return value.some(namesEndpoint);
  return isJsonObject(value) && Object.entries(value).some(([key, v]) => NEVER.test(key) || namesEndpoint(v));
}

function setAt(values: JsonObject, key: string, value: Json): void {
  const names = key.split(".");
  const last = names.pop() ?? key;
  let place = values;
  for (const name of names) {
    const next = place[name];
    place = isJsonObject(next) ? next : (place[name] = {});
  }
  place[last] = value;
}
