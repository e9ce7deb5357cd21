import type { CommandContext, Entry } from "@pi-agent/kernel";
import { textToOffer } from "../export/told.ts";
import { tell } from "./say.ts";

/** Puts what a person said once where they type next; without a place for it, shows it. */
export function offerAgain(ctx: CommandContext, entry: Entry): void {
  const text = textToOffer(entry);
  if (text === undefined || text === "") return;
  const ui: { setEditorText?(text: string): void } = ctx.ui;
  if (ctx.hasUI && ui.setEditorText) ui.setEditorText(text);
  else tell(ctx, `It was:\n${text}`);
}
