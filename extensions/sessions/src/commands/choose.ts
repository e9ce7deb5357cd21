import type { Context } from "@pi-agent/kernel";

export interface Choice<T> {
  /** What is shown: no two of a list are the same. */
  line: string;
  value: T;
}

export interface Asked<T> {
  title: string;
  choices: readonly Choice<T>[];
  /** How many are shown at first, and whether the others come before or after them. */
  shown: number;
  others: "before" | "after";
}

/** Lets a person choose; `undefined` where they choose nothing. A long list is shown in two steps. */
export async function choose<T>(ctx: Pick<Context, "ui">, asked: Asked<T>): Promise<T | undefined> {
  const { title, choices, shown, others } = asked;
  if (choices.length <= shown) return pick(ctx, title, choices);
  const some = others === "before" ? choices.slice(-shown) : choices.slice(0, shown);
  const all: Choice<"all"> = { line: `show all ${choices.length}`, value: "all" };
  const found = await pick<T | "all">(ctx, title, others === "before" ? [all, ...some] : [...some, all]);
  return found === "all" ? pick(ctx, title, choices) : found;
}

async function pick<T>(ctx: Pick<Context, "ui">, title: string, choices: readonly Choice<T>[]): Promise<T | undefined> {
  const lines = choices.map(({ line }) => line);
  const answer = await ctx.ui.select(title, lines);
  return choices.find(({ line }) => line === answer)?.value;
}
