/**
 * What every side of an in-process comparison does alike: a model that has its whole answer at once, and a tool that
 * answers `ok`. The same message contents, and listeners that hear every event and do nothing.
 */

/** What the model does in one turn: calls the tool, or writes a text in deltas. */
export type Step = { call: { n: number } } | { deltas: readonly string[] };

export interface Play {
  /** Asked once a turn, from 0. */
  step: (turn: number) => Step;
  listeners: readonly (() => void)[];
  /** Ours only: ten extensions on every hook of a turn. */
  hooks?: "synchronous" | "asynchronous";
}

export interface Player {
  /** Runs one prompt to its end; fails when the run does. */
  run(): Promise<void>;
  messageCount(): number;
}

/** `place` is where the side's code lies. */
export type CreatePlayer = (place: string, play: Play) => Promise<Player>;

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

export const MODEL = {
  id: "fake",
  name: "fake",
  provider: "fake",
  api: "fake",
  baseUrl: "",
  reasoning: false,
  input: ["text"] as "text"[],
  cost,
  // Never to be filled.
  contextWindow: 1e9,
  maxTokens: 16_384,
};

/** A new object each time: no two answers of a real provider share theirs. */
export function createUsage() {
  return { input: 100, output: 20, cacheRead: 0, cacheWrite: 0, totalTokens: 120, cost: { ...cost, total: 0 } };
}

export const TOOL = {
  name: "noop",
  label: "noop",
  description: "Does nothing.",
  parameters: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  execute: async () => ({ content: [{ type: "text" as const, text: "ok" }] }),
};
