import type { JsonObject, ToolSchema } from "@pi-agent/kernel";
import { isObjectSchema, PLAIN_64, toAlphabet, toObjectSchema } from "@pi-agent/wire";

const known = new WeakMap<ToolSchema, JsonObject>();

/** Makes the function of a tool: name, description and parameters. The same tool is converted once. */
export function toFunction(tool: ToolSchema): JsonObject {
  const made = known.get(tool) ?? convert(tool);
  known.set(tool, made);
  return made;
}

function convert({ name, description, parameters }: ToolSchema): JsonObject {
  const wireName = toAlphabet(name, PLAIN_64);
  const schema: JsonObject = { type: "object", properties: {}, ...parameters };
  if (isObjectSchema(schema)) return { name: wireName, description, parameters: schema };
  return {
    name: wireName,
    description: `${description}\n\nThe arguments must match this JSON Schema: ${JSON.stringify(parameters)}`,
    parameters: toObjectSchema(parameters),
  };
}
