/**
 * The summary that stands in the place of what was said.
 *
 *   history ──► summary ─┐
 *   beginning of a turn ─┴─► + the last request, where it does not stay + the files
 */
import { fileBlocks, listFiles } from "./files.ts";
import type { Plan } from "./plan.ts";
import { NO_HISTORY } from "./prompts.ts";
import { type Ask, summarise } from "./summarize.ts";
import { tell } from "./told.ts";

/** Writes the summary of a plan. Fails where an answer cannot be used. */
export async function writeSummary(
  ask: Ask,
  { history, prefix, previousSummary, request, files }: Plan,
  { focus, maxChars }: { focus?: string; maxChars: number },
): Promise<string> {
  const blocks: string[] = [];
  if (history.length > 0) {
    const parts = tell(history);
    blocks.push(await summarise(ask, { kind: "history", parts, previous: previousSummary, focus, maxChars }));
  } else blocks.push(previousSummary ?? NO_HISTORY);
  if (prefix.length > 0) {
    const turn = await summarise(ask, { kind: "prefix", parts: tell(prefix), focus, maxChars });
    blocks.push("---", "**Turn Context (split turn):**", turn);
  }
  if (request !== undefined) blocks.push(quote(request));
  return [...blocks, ...fileBlocks(listFiles(files))].join("\n\n");
}

function quote(request: string): string {
  return `<last-request>\n${request.replaceAll("</last-request>", "<\\/last-request>")}\n</last-request>`;
}
