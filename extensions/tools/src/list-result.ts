import type { Json, ToolResult } from "@pi-agent/kernel";
import { textResult } from "./result.ts";
import { formatSize, truncateHead, truncationInfo } from "./truncate.ts";

/** What is said below a list, and what `details` keep of it. */
export interface ListNotes {
  notices: string[];
  details: { [key: string]: Json };
}

/** Makes a result of lines, cut at `maxBytes`, with its notes in one bracket below. */
export function listResult(lines: readonly string[], maxBytes: number, { notices, details }: ListNotes): ToolResult {
  const cut = truncateHead(lines.join("\n"), { maxLines: Number.MAX_SAFE_INTEGER, maxBytes });
  const said = cut.truncated ? [...notices, `${formatSize(maxBytes)} limit reached`] : notices;
  const kept = cut.truncated ? { ...details, truncation: truncationInfo(cut) } : details;
  const text = said.length > 0 ? `${cut.content}\n\n[${said.join(". ")}]` : cut.content;
  return textResult(text, Object.keys(kept).length > 0 ? kept : undefined);
}
