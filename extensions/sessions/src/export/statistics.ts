import type { Entry, Usage } from "@pi-agent/kernel";

/** What a session holds and what it took, over all of its entries: also branches that were left, and what was compacted. */
export interface Statistics {
  userMessages: number;
  assistantMessages: number;
  toolResults: number;
  toolCalls: number;
  totalMessages: number;
  entries: number;
  tokens: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
  /** US dollars. */
  cost: number;
}

/** Counts a session. */
export function countSession(entries: Iterable<Entry>): Statistics {
  const counts: Statistics = {
    userMessages: 0,
    assistantMessages: 0,
    toolResults: 0,
    toolCalls: 0,
    totalMessages: 0,
    entries: 0,
    tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    cost: 0,
  };
  for (const entry of entries) {
    counts.entries++;
    if (entry.type === "message") countMessage(counts, entry.message);
    else if ("usage" in entry) addUsage(counts, entry.usage);
  }
  const { input, output, cacheRead, cacheWrite } = counts.tokens;
  counts.tokens.total = input + output + cacheRead + cacheWrite;
  return counts;
}

function countMessage(counts: Statistics, message: Entry<"message">["message"]): void {
  counts.totalMessages++;
  if (message.role === "user") counts.userMessages++;
  if (message.role === "assistant") {
    counts.assistantMessages++;
    for (const block of message.content) if (block.type === "toolCall") counts.toolCalls++;
    addUsage(counts, message.usage);
  }
  if (message.role === "toolResult") {
    counts.toolResults++;
    addUsage(counts, message.usage);
  }
}

function addUsage(counts: Statistics, usage: Usage | undefined): void {
  for (const kind of ["input", "output", "cacheRead", "cacheWrite"] as const) {
    counts.tokens[kind] += numberIn(usage?.[kind]);
  }
  counts.cost += numberIn(usage?.cost?.total);
}

/** Sessions of others say anything. */
function numberIn(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
