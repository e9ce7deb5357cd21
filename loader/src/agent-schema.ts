import type { JsonSchema } from "./json-check.ts";
import { SETTINGS_SCHEMA } from "./settings-schema.ts";

/** What `agent.json`, and `pi.agent` of a `package.json`, may hold; published as `agent.schema.json`. */
export const AGENT_SCHEMA = {
  type: "object",
  required: ["name", "packages"],
  additionalProperties: false,
  properties: {
    $schema: { type: "string" },
    name: {
      description: "What the agent is called.",
      type: "string",
      minLength: 1,
      maxLength: 100,
      pattern: "^[^\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]+$",
    },
    description: { description: "What it is for, in a sentence.", type: "string" },
    model: {
      description: "As --model takes it: provider/id, an id or a part of it, then :LEVEL.",
      type: "string",
      minLength: 1,
    },
    thinking: { enum: ["off", "minimal", "low", "medium", "high", "xhigh", "max"] },
    systemPrompt: { description: "The beginning of the prompt, in place of the usual one.", type: "string" },
    systemPromptFile: {
      description: "The same from a text file, relative to this one and in its folder or below.",
      type: "string",
      minLength: 1,
    },
    packages: {
      description:
        "Everything that is loaded, in this order: the name of a package, or a path that begins with ./ or ../, relative to this file. The value is its options, or true.",
      type: "object",
      additionalProperties: { anyOf: [{ const: true }, { type: "object" }] },
    },
    tools: {
      description: "The tools that are on, by name. Left out: those that are on by default. Empty: none.",
      type: "array",
      items: { type: "string", minLength: 1 },
    },
    settings: { description: "As in settings.json; they lie over the person's.", type: "object" },
    maxTurns: { description: "A run ends after so many calls of the model.", type: "integer", minimum: 1 },
  },
} as const satisfies JsonSchema;

/** The same, with what is known of settings: extensions may register more, which no file can know. */
export const FULL_AGENT_SCHEMA: JsonSchema = {
  ...AGENT_SCHEMA,
  properties: { ...AGENT_SCHEMA.properties, settings: SETTINGS_SCHEMA },
};
