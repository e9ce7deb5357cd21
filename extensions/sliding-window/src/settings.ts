import type { ExtensionAPI } from "@pi-agent/kernel";

/** How much of a conversation is sent: its last messages, or its last tokens; without either, as much as fits. */
export interface WindowOptions {
  messages?: number;
  tokens?: number;
  /** Whether the first message of the user, which is mostly the task, is always sent. */
  keepFirst?: boolean;
}

const PROPERTIES = {
  messages: { type: "integer", minimum: 1, description: "Send the last messages, so many", "x-project": "allow" },
  tokens: {
    type: "integer",
    minimum: 1,
    description: "Send the last messages, of so many tokens",
    "x-project": "allow",
  },
  keepFirst: { type: "boolean", description: "Always send the user's first message", "x-project": "allow" },
} as const;

/** The settings below `slidingWindow`. */
export const SETTINGS = { type: "object", properties: PROPERTIES } as const;

/** The options of the package, which are named as its settings are. */
export const OPTIONS = {
  ...SETTINGS,
  additionalProperties: false,
  // One or the other: which of the two would count?
  not: { properties: { messages: {}, tokens: {} }, required: ["messages", "tokens"] },
} as const;

/** Reads the window in force: of the options, else of the settings. `problem` says why those cannot be used. */
export function readWindow(
  pi: Pick<ExtensionAPI, "service">,
  options: WindowOptions,
): { window: WindowOptions; problem?: undefined } | { problem: string } {
  const read = (key: string): unknown => pi.service("settings")?.get(`slidingWindow.${key}`);
  const keepFirst = (options.keepFirst ?? read("keepFirst")) === true;
  if (options.messages !== undefined || options.tokens !== undefined) return { window: { ...options, keepFirst } };
  const [messages, tokens] = [read("messages"), read("tokens")];
  if (messages !== undefined && tokens !== undefined) return { problem: "it names both messages and tokens" };
  const odd = [messages, tokens].find((size) => size !== undefined && !isSize(size));
  if (odd !== undefined) return { problem: `${JSON.stringify(odd)} is no size of a window` };
  return { window: { messages: messages as number, tokens: tokens as number, keepFirst } };
}

function isSize(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 1;
}
