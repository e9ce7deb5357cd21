import type { Static } from "typebox";

const MAX_LINES = { type: "integer", minimum: 1, description: "Lines of text in one result" } as const;
const MAX_BYTES = { type: "integer", minimum: 1, description: "Bytes of text in one result" } as const;
const LIMIT = { type: "integer", minimum: 1, description: "Results, where the call names no limit" } as const;
const MAX_LINE_LENGTH = { type: "integer", minimum: 1, description: "Characters of a line that are shown" } as const;

/** The options of the package: the limits of each tool. */
export const OPTIONS = {
  type: "object",
  properties: {
    read: { type: "object", properties: { maxLines: MAX_LINES, maxBytes: MAX_BYTES }, additionalProperties: false },
    bash: { type: "object", properties: { maxLines: MAX_LINES, maxBytes: MAX_BYTES }, additionalProperties: false },
    grep: {
      type: "object",
      properties: { limit: LIMIT, maxBytes: MAX_BYTES, maxLineLength: MAX_LINE_LENGTH },
      additionalProperties: false,
    },
    find: { type: "object", properties: { limit: LIMIT, maxBytes: MAX_BYTES }, additionalProperties: false },
    ls: { type: "object", properties: { limit: LIMIT, maxBytes: MAX_BYTES }, additionalProperties: false },
  },
  additionalProperties: false,
} as const;

export type ToolsOptions = Static<typeof OPTIONS>;

/** The settings below `bash`. A project may give commands less time than the person does, never more. */
export const BASH_SETTINGS = {
  type: "object",
  properties: {
    timeoutSeconds: {
      type: "number",
      minimum: 0,
      description: "Seconds that a command may take; 0 means no limit",
      "x-project": "tighten",
      "x-tighten": "lower",
      "x-no-limit": 0,
    },
  },
} as const;
