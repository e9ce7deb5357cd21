import type { JsonObject } from "@pi-agent/kernel";

const REFUSED_AT_TOP = ["$ref", "anyOf", "oneOf", "allOf"];
/** References that are followed into each other, and so the end of a circle. */
const MAX_DEPTH = 8;

/** Tells whether a schema is a plain object at its top, as services want the arguments of a tool. */
export function isObjectSchema(schema: JsonObject): boolean {
  return schema.type === "object" && REFUSED_AT_TOP.every((key) => schema[key] === undefined);
}

/**
 * Makes one plain object of a schema that is a reference or a union at its top: the properties of all arms, with those
 * required that every arm requires. It takes more than the schema did, so tell the model the exact one in words.
 */
export function toObjectSchema(schema: JsonObject): JsonObject {
  const arms = listArms(schema, schema, 0);
  const kinds = new Map<string, JsonObject[]>();
  for (const arm of arms) for (const [name, kind] of Object.entries(asObject(arm.properties))) addKind(name, kind);
  function addKind(name: string, kind: unknown) {
    const known = kinds.get(name) ?? [];
    if (!known.some((one) => JSON.stringify(one) === JSON.stringify(kind))) known.push(asObject(kind));
    kinds.set(name, known);
  }
  const properties = Object.fromEntries(
    Array.from(kinds, ([name, all]) => [name, all.length === 1 ? all[0]! : { anyOf: all }]),
  );
  const required = commonNames(arms.map((arm) => asList(arm.required)));
  const result: JsonObject = { type: "object", properties };
  if (required.length > 0) result.required = required as string[];
  for (const key of ["$defs", "definitions"]) if (schema[key] !== undefined) result[key] = schema[key];
  return result;
}

/** The objects that a schema may stand for. The parts of `allOf` are one object. */
function listArms(schema: JsonObject, root: JsonObject, depth: number): JsonObject[] {
  if (depth > MAX_DEPTH) return [];
  const open = (part: unknown) => listArms(asObject(part), root, depth + 1);
  if (typeof schema.$ref === "string") return open(resolveReference(schema.$ref, root));
  const own = merge([schema, ...asList(schema.allOf).flatMap(open)]);
  const arms = [...asList(schema.anyOf), ...asList(schema.oneOf)].flatMap(open);
  return arms.length === 0 ? [own] : arms.map((arm) => merge([own, arm]));
}

function merge(schemas: readonly JsonObject[]): JsonObject {
  return {
    properties: Object.assign({}, ...schemas.map(({ properties }) => asObject(properties))),
    required: schemas.flatMap(({ required }) => asList(required)) as string[],
  };
}

function commonNames([first = [], ...others]: readonly (readonly unknown[])[]): unknown[] {
  return [...new Set(first)].filter((name) => others.every((names) => names.includes(name)));
}

/** Follows a reference into the schema, `#/…`, to what stands there; `undefined` for any other. */
export function resolveReference(reference: string, root: JsonObject): unknown {
  if (!reference.startsWith("#/")) return undefined;
  let at: unknown = root;
  for (const step of reference.slice(2).split("/"))
    at = asObject(at)[decode(step).replaceAll("~1", "/").replaceAll("~0", "~")];
  return at;
}

/** A lone `%` stands for itself. */
function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
