import { toTerminalLine } from "./terminal-text.ts";

// What one line holds beside the rest of it.
const TITLE_WIDTH = 60;

/** What the service `sessions` tells of the session that goes on. Every member may be missing. */
export interface Continued {
  name?: string;
  firstMessage?: string;
  lastUsed?: string;
}

/** Words it in one line: its name or first words, how much it holds, and when it was used last. */
export function describeContinued({ name, firstMessage, lastUsed }: Continued, size: number): string {
  if (lastUsed === undefined || size === 0) {
    return "there is no session of this folder to go on with: this begins one";
  }
  const title = toTerminalLine(name || firstMessage || "", TITLE_WIDTH);
  return `going on with "${title}", ${size} entries, last used ${wordTime(new Date(lastUsed))}`;
}

/** Local time. What the language has for it loads its tables of all languages first: a tenth of a second. */
function wordTime(at: Date): string {
  const two = (part: number) => String(part).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}
