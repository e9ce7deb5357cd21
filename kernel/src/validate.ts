/**
 * Arguments against a tool's JSON Schema (K3): checked as they came; if they do not fit, mended and checked again.
 * typebox is imported at the first call, so that a start without tool calls does not pay for it.
 */
import type { TSchema } from "typebox";
import type { Validator } from "typebox/compile";
import type { JsonObject } from "./messages.ts";
import { isLinear, maxLengthFor } from "./pattern-cost.ts";
import { isRecord } from "./values.ts";

type Schema = Record<string, unknown>;
export type Validation = { ok: true; value: JsonObject } | { ok: false; problem: string };

const MAX_SHOWN = 200;

let compile: ((schema: TSchema) => Validator) | undefined;
const validators = new WeakMap<object, Validator>();

/** Loads the validator, once; afterwards `validate` is synchronous. */
export function prepareValidation(): Promise<void> | undefined {
  if (compile) return undefined;
  return import("typebox/compile").then(({ Compile }) => {
    compile = Compile as (schema: TSchema) => Validator;
  });
}

/** Validates arguments, coercing what models are known to get slightly wrong. The problem names each bad path. */
export function validate(schema: TSchema, args: unknown): Validation {
  const validator = validatorOf(schema);
  if (validator.Check(args)) return { ok: true, value: args as JsonObject };
  const mended = coerce(schema as Schema, args, (part, value) => fits(part, value));
  if (validator.Check(mended)) return { ok: true, value: mended as JsonObject };
  return { ok: false, problem: describe(validator, mended) };
}

function validatorOf(schema: object): Validator {
  let validator = validators.get(schema);
  if (!validator) {
    validator = compile!(bounded(schema) as TSchema);
    validators.set(schema, validator);
  }
  return validator;
}

function fits(schema: Schema, value: unknown): boolean {
  return validatorOf(schema).Check(value);
}

/** Copies a schema without the patterns that could keep a search busy for ever; the others are held to shorter texts. */
function bounded(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(bounded);
  if (!isRecord(schema)) return schema;
  const copy: Schema = {};
  for (const [key, part] of Object.entries(schema)) copy[key] = VALUES.includes(key) ? part : bounded(part);
  if (typeof schema.pattern === "string") boundPattern(copy, schema.pattern);
  // Names have no length to hold them to.
  if (isRecord(schema.patternProperties) && !Object.keys(schema.patternProperties).every(isLinear)) {
    delete copy.patternProperties;
    delete copy.additionalProperties;
  }
  return copy;
}

function boundPattern(copy: Schema, pattern: string): void {
  delete copy.pattern;
  const maxLength = maxLengthFor(pattern);
  if (maxLength === undefined) return;
  // A text that is too long to be searched passes: the tool has to look at it.
  const held = { anyOf: [{ minLength: maxLength + 1 }, { maxLength, pattern }] };
  copy.allOf = [...((copy.allOf as Schema[] | undefined) ?? []), held];
}

/** Parts of a schema that are values, whatever they look like. */
const VALUES = ["const", "enum", "default", "examples"];
type Fits = (schema: Schema, value: unknown) => boolean;

/** Bends a value towards its schema: a copy where something changed, the value itself where nothing did. */
function coerce(schema: Schema, value: unknown, fit: Fits): unknown {
  const arms = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  if (Array.isArray(arms)) return coerceUnion(arms, value, fit);
  const types = typeof schema.type === "string" ? [schema.type] : ((schema.type as string[] | undefined) ?? []);
  const type = types.length === 1 ? types[0] : undefined;
  if (type === "array") return coerceArray(schema, value, fit);
  if (type === "object") return coerceObject(schema, value, fit);
  return type ? coerceScalar(type, value) : value;
}

/** An arm that takes the value as it is comes before any that takes it bent. */
function coerceUnion(arms: Schema[], value: unknown, fit: Fits): unknown {
  if (arms.some((arm) => fit(arm, value))) return value;
  for (const arm of arms) {
    const bent = coerce(arm, value, fit);
    if (fit(arm, bent)) return bent;
  }
  return value;
}

function coerceArray(schema: Schema, value: unknown, fit: Fits): unknown {
  const given = typeof value === "string" ? (parsed(value, Array.isArray) ?? value) : value;
  if (given === undefined || given === null) return given;
  const list = Array.isArray(given) ? given : [given];
  const items = schema.items;
  return isRecord(items) ? list.map((item) => coerce(items, item, fit)) : list;
}

function coerceObject(schema: Schema, value: unknown, fit: Fits): unknown {
  const given = typeof value === "string" ? (parsed(value, isRecord) ?? value) : value;
  if (!isRecord(given)) return given;
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const copy: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(given)) {
    const rule = Object.hasOwn(properties, key) ? properties[key] : undefined;
    // Models say `null` for what they leave out.
    if (part === null && isRecord(rule) && !required.includes(key) && !fit(rule, null)) continue;
    copy[key] = isRecord(rule) ? coerce(rule, part, fit) : part;
  }
  return copy;
}

function coerceScalar(type: string, value: unknown): unknown {
  if ((type === "number" || type === "integer") && typeof value === "string" && value.trim() !== "") {
    const number = Number(value);
    return Number.isFinite(number) ? number : value;
  }
  if (type === "boolean" && (value === "true" || value === "false")) return value === "true";
  if (type === "string" && (typeof value === "number" || typeof value === "boolean")) return String(value);
  return value;
}

function parsed(text: string, isWanted: (value: unknown) => boolean): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isWanted(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function describe(validator: Validator, value: unknown): string {
  const lines = new Map<string, string>();
  for (const error of validator.Errors(value)) {
    const path = error.instancePath.slice(1).replaceAll("/", ".") || "(arguments)";
    const came = show(at(value, error.instancePath));
    if (!lines.has(path)) lines.set(path, `- ${path}: ${error.message}, but came: ${came}`);
    if (lines.size === 10) break;
  }
  return [...lines.values()].join("\n");
}

function at(value: unknown, pointer: string): unknown {
  let part = value;
  for (const key of pointer.split("/").slice(1)) {
    part = (part as Record<string, unknown> | undefined)?.[key.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return part;
}

function show(value: unknown): string {
  const text = (JSON.stringify(value) as string | undefined) ?? "nothing";
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
