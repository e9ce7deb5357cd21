import type { Entry, Transcript } from "@pi-agent/kernel";
import { toTerminalLine } from "./terminal-text.ts";

// What one line holds beside the rest of it.
const TITLE_WIDTH = 60;

/** Tells on standard error which session is gone on with, or that there is none. */
export function tellContinued(transcript: Pick<Transcript, "path">): void {
  process.stderr.write(`${describeContinued(transcript.path())}\n`);
}

/** Words the session of a branch in one line: its name or first words, when it was used last, and how long it is. */
export function describeContinued(path: readonly Entry[]): string {
  const messages = path.filter((entry) => entry.type === "message" && entry.message.role !== "system");
  const last = path.at(-1);
  if (!last || messages.length === 0) return "there is no session of this folder to go on with: this begins one";
  const when = new Date(last.timestamp).toLocaleString();
  return `going on with "${toTerminalLine(findTitle(path), TITLE_WIDTH)}", ${messages.length} messages, last used ${when}`;
}

function findTitle(path: readonly Entry[]): string {
  const named = path.findLast((entry) => entry.type === "session_info");
  if (named?.name) return named.name;
  for (const entry of path) {
    if (entry.type !== "message" || entry.message.role !== "user") continue;
    const { content } = entry.message;
    if (typeof content === "string") return content;
    return content.map((block) => (block.type === "text" ? block.text : "")).join(" ");
  }
  return "";
}
