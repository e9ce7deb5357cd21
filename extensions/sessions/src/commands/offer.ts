import type { CommandContext, Entry } from "@pi-agent/kernel";
import { textToOffer } from "../export/told.ts";
import { tell } from "./say.ts";

/** Puts what a person said once where they type next; where nobody types, shows it. */
export function offerAgain(ctx: CommandContext, entry: Entry): void {
  const text = textToOffer(entry);
  if (text === undefined || text === "") return;
  if (ctx.hasUI) ctx.ui.setEditorText(text);
  else tell(ctx, `It was:\n${text}`);
}
