import type { Tool } from "@anthropic-ai/sdk/resources/messages";
import type { ToolSchema } from "@pi-agent/kernel";
import { type Alphabet, isObjectSchema, toAlphabet, toObjectSchema } from "@pi-agent/wire";

/** What the API takes as a tool's name. */
export const TOOL_NAME: Alphabet = { refused: /[^A-Za-z0-9_-]/u, maxLength: 128 };

const converted = new WeakMap<readonly ToolSchema[], readonly Tool[]>();

/** Converts the tools of a request. The same list is converted once, and must not be changed afterwards. */
export function toTools(tools: readonly ToolSchema[]): readonly Tool[] {
  let known = converted.get(tools);
  if (known === undefined) {
    known = tools.map(toTool);
    converted.set(tools, known);
  }
  return known;
}

function toTool({ name, description, parameters }: ToolSchema): Tool {
  const tool = { name: toAlphabet(name, TOOL_NAME), description, input_schema: parameters as Tool.InputSchema };
  if (isObjectSchema(parameters)) return tool;
  return {
    ...tool,
    description: `${description}\n\nThe arguments must match this JSON Schema: ${JSON.stringify(parameters)}`,
    input_schema: toObjectSchema(parameters) as Tool.InputSchema,
  };
}
