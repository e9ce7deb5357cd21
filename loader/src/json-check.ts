import type { Json, JsonObject } from "@pi-agent/kernel";

/** The part of JSON Schema that our own files are described with. */
export interface JsonSchema {
  type?: "string" | "number" | "integer" | "boolean" | "array" | "object" | "null";
  enum?: readonly Json[];
  const?: Json;
  anyOf?: readonly JsonSchema[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  /** Of a text. */
  pattern?: string;
  items?: JsonSchema;
  properties?: { readonly [key: string]: JsonSchema };
  required?: readonly string[];
  /** `false` refuses other members; a schema holds for each of them. */
  additionalProperties?: boolean | JsonSchema;
  default?: Json;
  description?: string;
}

export interface Misfit {
  /** The way to the value, from the root. */
  keys: string[];
  /** What is expected there, and what is there. */
  message: string;
}

/** Lists where a value does not fit a schema. Small enough for the start-up path; TypeBox is not loaded for it. */
export function findMisfits(schema: JsonSchema, value: unknown, keys: string[] = []): Misfit[] {
  if (!fits(schema, value)) {
    return [{ keys, message: `expected ${describe(schema)}, found ${nameFound(schema, value)}` }];
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.flatMap((item: unknown, index) => findMisfits(items, item, [...keys, String(index)])) : [];
  }
  if (!isJsonObject(value)) return [];
  const missing = (schema.required ?? []).filter((key) => value[key] === undefined);
  return [
    ...missing.map((key) => ({ keys, message: `"${key}" is missing` })),
    ...Object.entries(value).flatMap(([key, member]) => findMemberMisfits(schema, key, member, keys)),
  ];
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function findMemberMisfits(schema: JsonSchema, key: string, member: unknown, keys: string[]): Misfit[] {
  const known = schema.properties && Object.hasOwn(schema.properties, key) && schema.properties[key];
  const rule = known || (schema.additionalProperties ?? true);
  if (rule === true) return [];
  if (rule === false) return [{ keys: [...keys, key], message: `"${key}" is not known here` }];
  return findMisfits(rule, member, [...keys, key]);
}

function fits(schema: JsonSchema, value: unknown): boolean {
  if (schema.anyOf) return schema.anyOf.some((arm) => findMisfits(arm, value).length === 0);
  if (schema.enum) return schema.enum.some((allowed) => allowed === value);
  if (schema.const !== undefined && schema.const !== value) return false;
  if (schema.type && !isOfType(schema.type, value)) return false;
  if (typeof value === "string") return fitsText(schema, value);
  if (typeof value !== "number") return true;
  return value >= (schema.minimum ?? -Infinity) && value <= (schema.maximum ?? Infinity);
}

function fitsText({ minLength = 0, maxLength = Infinity, pattern }: JsonSchema, text: string): boolean {
  if (text.length < minLength || text.length > maxLength) return false;
  return pattern === undefined || new RegExp(pattern, "u").test(text);
}

function isOfType(type: NonNullable<JsonSchema["type"]>, value: unknown): boolean {
  if (type === "integer") return Number.isSafeInteger(value);
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isJsonObject(value);
  if (type === "null") return value === null;
  // 1e999 is JSON, and reads as Infinity.
  if (type === "number") return Number.isFinite(value);
  return typeof value === type;
}

function describe(schema: JsonSchema): string {
  if (schema.anyOf) return schema.anyOf.map(describe).join(" or ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(", ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const { minimum, maximum, minLength, maxLength, pattern } = schema;
  const from = minimum === undefined ? "" : ` from ${minimum}`;
  const to = maximum === undefined ? "" : ` to ${maximum}`;
  const long = minLength === undefined ? "" : ` of at least ${minLength} characters`;
  const short = maxLength === undefined ? "" : ` of at most ${maxLength} characters`;
  const like = pattern === undefined ? "" : ` that matches ${pattern}`;
  const article = /^[aio]/.test(schema.type ?? "") ? "an" : "a";
  return `${article} ${schema.type ?? "value"}${from}${to}${long}${short}${like}`;
}

// A value is shown only where a few are allowed: elsewhere it may be a key that was put in the wrong place.
function nameFound(schema: JsonSchema, value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (schema.enum || schema.const !== undefined || typeof value === "number") return JSON.stringify(value);
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
