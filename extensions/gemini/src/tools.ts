import type { FunctionDeclaration } from "@google/genai";
import type { ToolSchema } from "@pi-agent/kernel";
import { type Alphabet, toAlphabet } from "@pi-agent/wire";
import { toGeminiSchema } from "./schema.ts";

/** What the API takes as a function's name; the first character is a letter or an underscore. */
export const TOOL_NAME: Alphabet = { refused: /[^A-Za-z0-9_.-]|^[^A-Za-z_]/u, maxLength: 64 };

const converted = new WeakMap<readonly ToolSchema[], readonly FunctionDeclaration[]>();

/** Converts the tools of a request. The same list is converted once, and must not be changed afterwards. */
export function toDeclarations(tools: readonly ToolSchema[]): readonly FunctionDeclaration[] {
  let known = converted.get(tools);
  if (known === undefined) {
    known = tools.map(toDeclaration);
    converted.set(tools, known);
  }
  return known;
}

function toDeclaration({ name, description, parameters }: ToolSchema): FunctionDeclaration {
  const schema = toGeminiSchema(parameters);
  const declaration = { name: toAlphabet(name, TOOL_NAME), description };
  // A function without parameters is one without a schema: an empty object is refused.
  return Object.keys(schema.properties ?? {}).length === 0
    ? declaration
    : { ...declaration, parametersJsonSchema: schema };
}
