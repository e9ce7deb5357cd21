/**
 * Arguments against a tool's JSON Schema (K3): checked as they came; if they do not fit, mended and checked again.
 * typebox is imported at the first call, so that a start without tool calls does not pay for it.
 */
import type { TSchema } from "typebox";
import type { Validator } from "typebox/compile";
import type { JsonObject } from "./messages.ts";
import { isLinear, maxLengthFor } from "./pattern-cost.ts";
import { isPlain, isRecord, setOwn, toJson } from "./values.ts";

type Schema = Record<string, unknown>;
export type Validation = { ok: true; value: JsonObject } | { ok: false; problem: string };

const MAX_SHOWN = 200;
const MAX_LINES = 10;
/** Below a union that contains itself, to gather the errors takes a power of the depth. */
const MAX_TOLD_DEPTH = 8;
const UNTOLD = "- (arguments): must match the schema, and are nested too deep to tell where they do not";

let compile: ((schema: TSchema) => Validator) | undefined;
/** By the root whose definitions a part of a schema refers to. */
const validators = new WeakMap<object, WeakMap<object, Validator>>();

/** Loads the validator, once; afterwards `validate` is synchronous. */
export function prepareValidation(): Promise<void> | undefined {
  if (compile) return undefined;
  return import("typebox/compile").then(({ Compile }) => {
    compile = Compile as (schema: TSchema) => Validator;
  });
}

/** Validates arguments, coercing what models are known to get slightly wrong. The problem names each bad path. */
export function validate(schema: TSchema, given: unknown): Validation {
  const validator = validatorOf(schema, schema);
  const args = isOwn(given) ? given : toJson(given);
  if (validator.Check(args)) return { ok: true, value: args as JsonObject };
  const mended = coerce(schema as Schema, args, { root: schema as Schema, bent: new Map() });
  if (validator.Check(mended)) return { ok: true, value: mended as JsonObject };
  return { ok: false, problem: canBeTold(schema, mended) ? describe(validator, mended) : UNTOLD };
}

/** Whether nothing in a value is inherited: a validator takes what an object inherits for its own. */
function isOwn(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isOwn);
  return isPlain(value) && Object.values(value).every(isOwn);
}

function validatorOf(root: object, part: object): Validator {
  let ofRoot = validators.get(root);
  if (!ofRoot) validators.set(root, (ofRoot = new WeakMap()));
  let validator = ofRoot.get(part);
  if (!validator) {
    validator = compile!((part === root ? bounded(root) : within(root, bounded(part))) as TSchema);
    ofRoot.set(part, validator);
  }
  return validator;
}

/** A part of a schema that stands alone, with its root beside it for what it refers to. */
function within(root: object, part: unknown): unknown {
  const text = JSON.stringify(part);
  if (!text.includes('"$ref"')) return part;
  return { $defs: { root: moved(bounded(root)) }, allOf: [moved(part)] };
}

/** Copies a schema for a place where its root is no longer the root. */
function moved(schema: unknown): unknown {
  return copied(schema, moved, (copy) => {
    if (isLocal(copy.$ref)) copy.$ref = `#/$defs/root${copy.$ref.slice(1)}`;
  });
}

function fits(schema: Schema, value: unknown, { root }: Bending): boolean {
  return validatorOf(root, schema).Check(value);
}

/** Copies a schema without the patterns that could keep a search busy for ever; the others are held to shorter texts. */
function bounded(schema: unknown): unknown {
  return copied(schema, bounded, (copy) => {
    if (typeof copy.pattern === "string") boundPattern(copy, copy.pattern);
    // Names have no length to hold them to.
    if (isRecord(copy.patternProperties) && !Object.keys(copy.patternProperties).every(isLinear)) {
      delete copy.patternProperties;
      delete copy.additionalProperties;
    }
  });
}

/** Copies a schema with its parts as `copyPart` copies them, and lets `change` have the copy. */
function copied(schema: unknown, copyPart: (part: unknown) => unknown, change: (copy: Schema) => void): unknown {
  if (Array.isArray(schema)) return schema.map(copyPart);
  if (!isRecord(schema)) return schema;
  const copy: Schema = {};
  for (const [key, part] of Object.entries(schema)) {
    if (VALUES.includes(key)) copy[key] = part;
    else if (!NAMES.includes(key) || !isRecord(part)) setOwn(copy, key, copyPart(part));
    else copy[key] = Object.fromEntries(Object.entries(part).map(([name, named]) => [name, copyPart(named)]));
  }
  change(copy);
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
/** Parts of a schema whose keys are names, whatever keyword they look like. */
const NAMES = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/** `bent` keeps what became of an object under a union, which may be asked again from every arm above. */
type Bending = { root: Schema; bent: Map<unknown, Map<Schema[], unknown>> };

/** Bends a value towards its schema: a copy where something changed, the value itself where nothing did. */
function coerce(given: Schema, value: unknown, bending: Bending): unknown {
  const schema = resolved(given, bending.root);
  const arms = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  if (Array.isArray(arms)) return coerceUnion(arms, value, bending);
  const types = typeof schema.type === "string" ? [schema.type] : ((schema.type as string[] | undefined) ?? []);
  const type = types.length === 1 ? types[0] : undefined;
  if (type === "array") return coerceArray(schema, value, bending);
  if (type === "object") return coerceObject(schema, value, bending);
  return type ? coerceScalar(type, value) : value;
}

/** Whether a reference is a path within its own document. */
function isLocal(reference: unknown): reference is string {
  return typeof reference === "string" && /^#(?:\/|$)/.test(reference);
}

/** Follows what refers into its own root; what refers to itself is left as it is. */
function resolved(schema: Schema, root: Schema): Schema {
  const passed = new Set<unknown>();
  let target: unknown = schema;
  while (isRecord(target) && isLocal(target.$ref) && !passed.has(target)) {
    passed.add(target);
    target = at(root, decodeURIComponent(target.$ref.slice(1)));
  }
  return isRecord(target) ? target : schema;
}

/** An arm that takes the value as it is comes before any that takes it bent. */
function coerceUnion(arms: Schema[], value: unknown, bending: Bending): unknown {
  const { bent } = bending;
  const known = bent.get(value) ?? new Map<Schema[], unknown>();
  if (!known.has(arms)) {
    bent.set(value, known.set(arms, value));
    known.set(arms, bentToArm(arms, value, bending));
  }
  return known.get(arms);
}

function bentToArm(arms: Schema[], value: unknown, bending: Bending): unknown {
  if (arms.some((arm) => fits(arm, value, bending))) return value;
  for (const arm of arms) {
    const bent = coerce(arm, value, bending);
    if (fits(arm, bent, bending)) return bent;
  }
  return value;
}

function coerceArray(schema: Schema, value: unknown, bending: Bending): unknown {
  const given = typeof value === "string" ? (parsed(value, Array.isArray) ?? value) : value;
  if (given === undefined || given === null) return given;
  const list = Array.isArray(given) ? given : [given];
  const items = schema.items;
  return isRecord(items) ? list.map((item) => coerce(items, item, bending)) : list;
}

function coerceObject(schema: Schema, value: unknown, bending: Bending): unknown {
  const given = typeof value === "string" ? (parsed(value, isRecord) ?? value) : value;
  if (!isRecord(given)) return given;
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const copy: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(given)) {
    const rule = Object.hasOwn(properties, key) ? properties[key] : undefined;
    // Models say `null` for what they leave out.
    if (part === null && isRecord(rule) && !required.includes(key) && !fits(rule, null, bending)) continue;
    setOwn(copy, key, isRecord(rule) ? coerce(rule, part, bending) : part);
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

function canBeTold(schema: object, value: unknown): boolean {
  if (!isDeeper(value, MAX_TOLD_DEPTH)) return true;
  const text = JSON.stringify(schema);
  return !text.includes('"$ref"') || !/"(?:anyOf|oneOf)"/.test(text);
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((part) => isDeeper(part, depth - 1));
}

function describe(validator: Validator, value: unknown): string {
  const lines = new Map<string, string>();
  for (const error of validator.Errors(value)) {
    const path = error.instancePath.slice(1).replaceAll("/", ".") || "(arguments)";
    if (lines.size === MAX_LINES && !lines.has(path)) break;
    const came = show(at(value, error.instancePath));
    // A pattern comes after the length that a text would need to get round it.
    if (error.keyword === "pattern" || !lines.has(path))
      lines.set(path, `- ${path}: ${error.message}, but came: ${came}`);
  }
  return [...lines.values()].join("\n");
}

function at(value: unknown, pointer: string): unknown {
  let part = value;
  for (const step of pointer.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof part !== "object" || part === null || !Object.hasOwn(part, key)) return undefined;
    part = (part as Record<string, unknown>)[key];
  }
  return part;
}

function show(value: unknown): string {
  const text = (JSON.stringify(value) as string | undefined) ?? "nothing";
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
