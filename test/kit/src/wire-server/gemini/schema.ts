import { first } from "../format.ts";
import { asText, findUnknownKey, isObject } from "../json-values.ts";

// The fields of the API's own Schema message; `parametersJsonSchema` takes more.
const KNOWN_KEYS = (
  "type format title description nullable enum maxItems minItems properties required minProperties maxProperties " +
  "minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum"
).split(" ");
const TYPES = ["string", "number", "integer", "boolean", "array", "object", "null"];

/** Answers what the API would say against a schema in `parameters`, and where. */
export function findSchemaFault(schema: unknown, at: string): string | undefined {
  if (!isObject(schema))
    return `Invalid value at '${at}' (type.googleapis.com/google.ai.generativelanguage.v1beta.Schema)`;
  const key = findUnknownKey(schema, KNOWN_KEYS);
  if (key !== undefined) return `Invalid JSON payload received. Unknown name "${key}" at '${at}': Cannot find field.`;
  return findTypeFault(schema, at) ?? findMemberFault(schema, at);
}

function findTypeFault(schema: Record<string, unknown>, at: string): string | undefined {
  if (Array.isArray(schema.type)) {
    return `Invalid value at '${at}.type' (type.googleapis.com/google.ai.generativelanguage.v1beta.Type): Proto field is not repeating, cannot start list.`;
  }
  const type = asText(schema.type ?? "").toLowerCase();
  if (type !== "" && !TYPES.includes(type)) {
    return `Invalid value at '${at}.type' (type.googleapis.com/google.ai.generativelanguage.v1beta.Type), "${type}"`;
  }
  if (type === "array" && schema.items === undefined) return `* GenerateContentRequest.${at}.items: missing field.\n`;
  if (schema.enum === undefined) return undefined;
  if (!Array.isArray(schema.enum) || schema.enum.some((value) => typeof value !== "string")) {
    return `Invalid value at '${at}.enum' (TYPE_STRING)`;
  }
  if (type !== "string" && type !== "") return `* GenerateContentRequest.${at}.enum: only allowed for STRING type\n`;
  return schema.enum.includes("") ? `* GenerateContentRequest.${at}.enum[0]: cannot be empty\n` : undefined;
}

function findMemberFault(schema: Record<string, unknown>, at: string): string | undefined {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const missing = required.findIndex((name) => !Object.hasOwn(properties, asText(name)));
  if (missing >= 0) return `* GenerateContentRequest.${at}.required[${missing}]: property is not defined\n`;
  return (
    first(Object.entries(properties), ([name, inner]) => findSchemaFault(inner, `${at}.properties[${name}]`)) ??
    first(Array.isArray(schema.anyOf) ? schema.anyOf : [], (arm, place) =>
      findSchemaFault(arm, `${at}.any_of[${place}]`),
    ) ??
    (schema.items === undefined ? undefined : findSchemaFault(schema.items, `${at}.items`))
  );
}
