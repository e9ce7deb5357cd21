import type { Entry } from "@pi-agent/kernel";
import { inOneLine } from "./peek.ts";

/** Tells whether an entry makes a session worth keeping: a person or a model said something. */
export function isSaid(entry: Entry): boolean {
  return entry.type === "message" && (entry.message.role === "user" || entry.message.role === "assistant");
}

/** Finds how a conversation began, in one line of 200 characters at most. */
export function findFirstMessage(entries: readonly Entry[]): string | undefined {
  for (const entry of entries) {
    if (entry.type === "message" && entry.message.role === "user") return inOneLine(entry.message.content);
  }
  return undefined;
}

/** Finds the name that was given last, as far as it was not taken away. */
export function findName(entries: readonly Entry[]): string | undefined {
  const named = entries.findLast((entry) => entry.type === "session_info");
  return named?.name || undefined;
}
