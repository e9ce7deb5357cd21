import type { ExtensionAPI, Json } from "@pi-agent/kernel";

/** What decides about retries. Times are milliseconds. */
export interface RetrySettings {
  enabled: boolean;
  /** How often one call is tried again. */
  maxRetries: number;
  /** The first wait; each further one is twice as long. */
  baseDelayMs: number;
  /** No wait of our own choice is longer. */
  maxAgentDelayMs: number;
  /** No wait that the service asks for may be longer; 0 takes any. */
  maxServerDelayMs: number;
}

export interface RetryOptions extends Partial<Omit<RetrySettings, "maxServerDelayMs">> {
  provider?: { maxRetryDelayMs?: number };
}

// Pi's defaults for the same settings.
const DEFAULTS: RetrySettings = {
  enabled: true,
  maxRetries: 3,
  baseDelayMs: 2_000,
  maxAgentDelayMs: 60_000,
  maxServerDelayMs: 60_000,
};

const DELAY = { type: "number", minimum: 0 } as const;

/** The options of the package, which are named as the settings below `retry` are. */
export const OPTIONS = {
  type: "object",
  properties: {
    enabled: { type: "boolean", description: "Whether failed calls are tried again" },
    maxRetries: { type: "integer", minimum: 0, description: "How often one call is tried again" },
    baseDelayMs: { ...DELAY, description: "The first wait; each further one is twice as long" },
    maxAgentDelayMs: { ...DELAY, description: "The longest wait" },
    provider: {
      type: "object",
      properties: {
        maxRetryDelayMs: { ...DELAY, description: "The longest wait that a service may ask for; 0 takes any" },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const;

/** Reads what is in force now: an option, else the setting, else the default. */
export function readSettings(pi: Pick<ExtensionAPI, "service">, options: RetryOptions): RetrySettings {
  const setting = (key: string): Json | undefined => pi.service("settings")?.get(`retry.${key}`);
  const number = (own: number | undefined, key: string, otherwise: number): number => {
    const value = own ?? setting(key);
    return typeof value === "number" && value >= 0 ? value : otherwise;
  };
  return {
    enabled: (options.enabled ?? setting("enabled")) !== false,
    maxRetries: number(options.maxRetries, "maxRetries", DEFAULTS.maxRetries),
    baseDelayMs: number(options.baseDelayMs, "baseDelayMs", DEFAULTS.baseDelayMs),
    maxAgentDelayMs: number(options.maxAgentDelayMs, "maxAgentDelayMs", DEFAULTS.maxAgentDelayMs),
    maxServerDelayMs: number(options.provider?.maxRetryDelayMs, "provider.maxRetryDelayMs", DEFAULTS.maxServerDelayMs),
  };
}
