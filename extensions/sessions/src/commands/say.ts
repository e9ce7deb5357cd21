/** How commands answer: a line when it is done, three parts when it is not. */
import type { Command, CommandContext, Context, ExtensionAPI } from "@pi-agent/kernel";
import type { Keeper } from "./shelf.ts";

/** What a command works with. */
export interface Place {
  pi: ExtensionAPI;
  keeper: Keeper;
  ctx: CommandContext;
}

export type Run = (args: string, place: Place) => Promise<void>;

export interface Refusal {
  what: string;
  why?: string;
  hint: string;
}

/**
 * Makes a command that tells what fails in three parts, and leaves everything as it was then. `load`: its code is not
 * loaded before somebody types it.
 */
export function toCommand(description: string, load: () => Promise<Run>, at: Pick<Place, "pi" | "keeper">): Command {
  return {
    description,
    async handler(args, ctx) {
      try {
        const run = await load();
        await run(args.trim(), { ...at, ctx });
      } catch (thrown) {
        if (!isWorded(thrown)) throw thrown;
        refuse(ctx, { what: thrown.message, hint: thrown.hint });
      }
    },
  };
}

/** Tells a person that something was done, or how it is. */
export function tell(ctx: Pick<Context, "ui">, text: string): void {
  ctx.ui.notify(text, "info");
}

/** Tells a person why something was not done. */
export function refuse(ctx: Pick<Context, "ui">, { what, why, hint }: Refusal): void {
  ctx.ui.notify([what, ...(why ? [`  why: ${why}`] : []), `  try: ${hint}`].join("\n"), "error");
}

/** Says that a command asks, and nobody is there who could answer. */
export function refuseToAsk(ctx: Pick<Context, "ui" | "mode">, what: string, hint: string): void {
  refuse(ctx, { what, why: `in mode ${ctx.mode} nobody can be asked`, hint });
}

/** An error that says what to do: it is for the person, and no fault. */
function isWorded(thrown: unknown): thrown is Error & { hint: string } {
  return thrown instanceof Error && "code" in thrown && "hint" in thrown && typeof thrown.hint === "string";
}
