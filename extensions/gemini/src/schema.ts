/**
 * JSON Schema ──► the part of it that Gemini's `parametersJsonSchema` takes.
 *
 * Rewritten: `const` as `enum`, `oneOf` as `anyOf`, `allOf` as one schema, a reference beside other keys as what it
 * stands for. What has no form there is told in the description, so that the model knows all that is checked.
 */
import type { JsonObject } from "@pi-agent/kernel";
import { isObjectSchema, resolveReference, toObjectSchema } from "@pi-agent/wire";

const PLAIN = ["type", "title", "minItems", "maxItems", "minimum", "maximum", "required", "default"];
const FORMATS = ["date-time", "date", "time", "int32", "int64", "float", "double"];
/** Keys that say nothing to a model, or are taken care of elsewhere. */
const SILENT = ["$schema", "$id", "$comment", "$anchor", "$defs", "definitions", "examples"];

/** Where in a schema the work is: its root, and the references that are being followed. */
interface Place {
  root: JsonObject;
  open: readonly string[];
}

/** Rewrites the parameters of a tool. */
export function toGeminiSchema(parameters: JsonObject): JsonObject {
  const at: Place = { root: parameters, open: [] };
  const isPlain = isObjectSchema(parameters);
  const rewritten = rewrite(isPlain ? parameters : toObjectSchema(parameters), at);
  const definitions = { ...asObject(parameters.definitions), ...asObject(parameters.$defs) };
  if (Object.keys(definitions).length > 0) rewritten.$defs = rewriteEach(definitions, at);
  if (!isPlain) rewritten.description = `The arguments must match this JSON Schema: ${JSON.stringify(parameters)}`;
  return rewritten;
}

function rewrite(given: unknown, at: Place): JsonObject {
  const { $ref, allOf, ...schema } = asObject(given);
  if (typeof $ref === "string") {
    const isAlone = allOf === undefined && Object.keys(schema).every((key) => SILENT.includes(key));
    if (!$ref.startsWith("#")) return { description: `(as in ${$ref})` };
    if (isAlone || at.open.includes($ref)) return { $ref: $ref.replace("#/definitions/", "#/$defs/") };
    return follow([$ref], [{ ...schema, ...(allOf !== undefined && { allOf }) }], at);
  }
  if (Array.isArray(allOf)) {
    const parts = allOf.map(asObject);
    const references = parts.flatMap((part) => (typeof part.$ref === "string" ? [part.$ref] : []));
    return follow(references, [...parts.map(withoutReference), schema], at);
  }
  const result: JsonObject = {};
  const told: string[] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (SILENT.includes(key) || key === "description") continue;
    if (PLAIN.includes(key)) result[key] = value;
    else if (!rewriteKey(key, value, { result, at })) told.push(`${key}: ${JSON.stringify(value)}`);
  }
  // A name that is required but not described is refused.
  if (result.properties && Array.isArray(result.required)) {
    const known = Object.keys(asObject(result.properties));
    result.required = result.required.filter((name) => known.includes(name as string));
  }
  const description = typeof schema.description === "string" ? schema.description : "";
  const words = told.length > 0 ? `(${told.join("; ")})` : "";
  if (description || words) result.description = [description, words].filter(Boolean).join(" ");
  return result;
}

/** Rewrites what references stand for together with the schemas beside them. A circle is not followed again. */
function follow(references: readonly string[], beside: readonly JsonObject[], { root, open }: Place): JsonObject {
  const fresh = references.filter((reference) => !open.includes(reference));
  const targets = fresh.map((reference) => (reference === "#" ? root : asObject(resolveReference(reference, root))));
  return rewrite(merge([...targets, ...beside]), { root, open: [...open, ...fresh] });
}

/** Rewrites what has a form of its own. Answers `false` for what has none. */
function rewriteKey(key: string, value: unknown, { result, at }: { result: JsonObject; at: Place }): boolean {
  const each = (part: unknown) => rewrite(part, at);
  if (key === "properties") result.properties = rewriteEach(asObject(value), at);
  else if (key === "items") result.items = each(value);
  else if (key === "prefixItems" && Array.isArray(value)) result.prefixItems = value.map(each);
  else if ((key === "anyOf" || key === "oneOf") && Array.isArray(value))
    result.anyOf = [...((result.anyOf as JsonObject[] | undefined) ?? []), ...value.map(each)];
  else if (key === "additionalProperties")
    result.additionalProperties = typeof value === "boolean" ? value : each(value);
  else if (key === "format" && FORMATS.includes(String(value))) result.format = value as string;
  else if (key === "const" && isScalar(value)) Object.assign(result, { type: typeof value, enum: [value] });
  else if (key === "enum" && Array.isArray(value) && value.every(isScalar)) result.enum = value;
  else return false;
  return true;
}

/** Later keys win; properties, required names and the parts of `allOf` add up. */
function merge(schemas: readonly JsonObject[]): JsonObject {
  const merged: JsonObject = Object.assign({}, ...schemas);
  const properties = Object.assign({}, ...schemas.map((schema) => asObject(schema.properties))) as JsonObject;
  if (Object.keys(properties).length > 0) merged.properties = properties;
  for (const key of ["required", "allOf"]) {
    const all = schemas.flatMap((schema) => (Array.isArray(schema[key]) ? schema[key] : []));
    if (all.length > 0) merged[key] = [...new Set(all)];
  }
  return merged;
}

function withoutReference(schema: JsonObject): JsonObject {
  const { $ref: _, ...rest } = schema;
  return rest;
}

function rewriteEach(schemas: JsonObject, at: Place): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, rewrite(schema, at)]));
}

function isScalar(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
