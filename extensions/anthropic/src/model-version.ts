import type { Model } from "@pi-agent/kernel";

const CLAUDE = /claude-(?:opus|sonnet|haiku|fable|mythos)-(\d+)(?:[-.](\d{1,2})(?!\d))?/;
/** The first version that decides by itself how much to think, by an effort instead of a budget. */
const ADAPTIVE_SINCE = 4.06;
/** The first version that refuses `temperature` and its like. */
const NO_SAMPLING_SINCE = 4.07;

/**
 * Tells how a model is made to think: by `effort`, or by a `budget` of tokens as older Claude models and compatible
 * servers have it. `compat.forceAdaptiveThinking` decides where the id does not.
 */
export function thinkingStyle({ id, compat }: Model): "effort" | "budget" {
  const forced = compat?.forceAdaptiveThinking;
  if (typeof forced === "boolean") return forced ? "effort" : "budget";
  return isSince(id, ADAPTIVE_SINCE) ? "effort" : "budget";
}

/** Tells whether a model takes `temperature`. */
export function takesSampling({ id }: Model): boolean {
  return !isSince(id, NO_SAMPLING_SINCE);
}

/** Versions compare as major and hundredths: 4.10 is after 4.9. */
function isSince(id: string, version: number): boolean {
  const [, major, minor = "0"] = CLAUDE.exec(id) ?? [];
  return major !== undefined && Number(major) + Number(minor) / 100 >= version;
}
