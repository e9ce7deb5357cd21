import type { Model, ThinkingLevel } from "@pi-agent/kernel";

const LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];
const BUDGETS: Readonly<Partial<Record<ThinkingLevel, number>>> = { off: 0, minimal: 1_024, low: 2_048, medium: 8_192 };
const MAX_BUDGET = 16_384;

/**
 * Finds the level that a model has: the one asked for, else the next one up, else the next one down. Without reasoning
 * it has `off` only, and `xhigh` and `max` only where its map has a word for them.
 */
export function clampThinkingLevel(model: Model, asked: ThinkingLevel): ThinkingLevel {
  const at = LEVELS.indexOf(asked);
  const inOrder = [...LEVELS.slice(at), ...LEVELS.slice(0, at).reverse()];
  return inOrder.find((level) => hasLevel(model, level)) ?? "off";
}

function hasLevel({ reasoning, thinkingLevelMap: map }: Model, level: ThinkingLevel): boolean {
  if (!reasoning) return level === "off";
  if (level === "xhigh" || level === "max") return typeof map?.[level] === "string";
  return map?.[level] !== null;
}

/** Says how many tokens a level may think for, where a service takes a number. */
export function thinkingBudget(level: ThinkingLevel): number {
  return BUDGETS[level] ?? MAX_BUDGET;
}
