import type { ExtensionAPI, Json, JsonObject, Model } from "@pi-agent/kernel";

/** Pi's defaults for the same settings, in tokens. */
const RESERVE_TOKENS = 16_384;
const KEEP_RECENT_TOKENS = 20_000;
/** A window that is smaller gives no more than a quarter of itself: the default reserve would leave it nothing. */
const SMALL_WINDOW = 2 * RESERVE_TOKENS;
/** Taken where a model does not say how large its window is. */
export const UNKNOWN_WINDOW = 128_000;

export interface ModelLimits {
  /** Compacts when less than this is left of the window. */
  reserveTokens?: number;
  /** About so much of the tail stays as it is. */
  keepRecentTokens?: number;
}

/** The options of the package, which are named as the settings below `compaction` are. */
export interface CompactionOptions extends ModelLimits {
  /** Whether it compacts by itself. By hand it always does. */
  enabled?: boolean;
  /** By `provider/id`. */
  modelOverrides?: Record<string, ModelLimits>;
}

/** The extension as it is loaded: its way to the agent, its options, and a signal that fires when it is unloaded. */
export interface Loaded {
  pi: ExtensionAPI;
  options: CompactionOptions;
  gone: AbortSignal;
}

const TOKENS = { type: "integer", minimum: 0 } as const;
const LIMITS = {
  reserveTokens: { ...TOKENS, description: "Compact when less than this is left of the window" },
  keepRecentTokens: { ...TOKENS, description: "How much of the tail stays as it is" },
} as const;
const OVERRIDES = {
  type: "object",
  description: "Other limits for single models, by provider/id",
  additionalProperties: { type: "object", properties: LIMITS, additionalProperties: false },
} as const;

export const OPTIONS = {
  type: "object",
  properties: {
    enabled: { type: "boolean", description: "Whether it compacts by itself" },
    ...LIMITS,
    modelOverrides: OVERRIDES,
  },
  additionalProperties: false,
} as const;

// A project may decide how its conversations are shortened: it changes what is sent, and nothing else.
const BY_PROJECT = { "x-project": "allow" } as const;

export const COMPACTION_SETTINGS = {
  type: "object",
  properties: {
    enabled: { type: "boolean", default: true, ...BY_PROJECT },
    reserveTokens: { ...LIMITS.reserveTokens, default: RESERVE_TOKENS, ...BY_PROJECT },
    keepRecentTokens: { ...LIMITS.keepRecentTokens, default: KEEP_RECENT_TOKENS, ...BY_PROJECT },
    modelOverrides: { ...OVERRIDES, ...BY_PROJECT },
  },
} as const;

export const BRANCH_SETTINGS = {
  type: "object",
  properties: { reserveTokens: { ...TOKENS, default: RESERVE_TOKENS, ...BY_PROJECT } },
} as const;

type Settings = Pick<ExtensionAPI, "service">;
interface Given {
  pi: Settings;
  options: CompactionOptions;
}

/** Tells whether it may compact by itself: an option, else the setting, else yes. */
export function isAutomatic({ pi, options }: Given): boolean {
  return (options.enabled ?? settingOf(pi, "compaction.enabled")) !== false;
}

/** Answers how many tokens a conversation may have before it is compacted; 0 where the window is not known. */
export function thresholdOf(owner: Given, model: Model): number {
  const { contextWindow } = model;
  if (!(contextWindow > 0)) return 0;
  return contextWindow - reserveOf(contextWindow, limitOf(owner, model, "reserveTokens"));
}

/** Answers about how much of the tail stays, in tokens. */
export function keepTokensOf(owner: Given, model: Model | undefined): number {
  return limitOf(owner, model, "keepRecentTokens");
}

/** Answers how much of a branch its summary may be made of, in tokens. */
export function branchRoom(pi: Settings, contextWindow: number): number {
  const set = settingOf(pi, "branchSummary.reserveTokens");
  return contextWindow - reserveOf(contextWindow, isTokens(set) ? set : RESERVE_TOKENS);
}

function reserveOf(contextWindow: number, asked: number): number {
  const most = contextWindow < SMALL_WINDOW ? contextWindow / 4 : contextWindow - 1;
  return asked <= most ? asked : Math.floor(contextWindow / 4);
}

/** The model's own limit, else the general one; of each the option before the setting. */
function limitOf({ pi, options }: Given, model: Model | undefined, key: keyof ModelLimits): number {
  const name = `${model?.provider}/${model?.id}`;
  const overrides = settingOf(pi, "compaction.modelOverrides") as Record<string, JsonObject | undefined> | undefined;
  const given = [
    options.modelOverrides?.[name]?.[key],
    overrides?.[name]?.[key],
    options[key],
    settingOf(pi, `compaction.${key}`),
  ];
  return given.find(isTokens) ?? (key === "reserveTokens" ? RESERVE_TOKENS : KEEP_RECENT_TOKENS);
}

function settingOf(pi: Settings, key: string): Json | undefined {
  return pi.service("settings")?.get(key);
}

function isTokens(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
