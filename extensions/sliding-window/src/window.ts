/**
 * The last part of a conversation, cut where every model takes it.
 *
 *   first ┊ call result result ┊ user ┊ call result ┊ user        ┊ a place to cut: never between a call and its results
 *     └─ on request    dropped ──────┘└── the window ──────►
 */
import type { Message } from "@pi-agent/kernel";

/** What is sent at most; the newest message, with all that belongs to it, always is. */
export interface Window {
  size: number;
  keepFirst: boolean;
  /** What a message counts for: 1, or its tokens. */
  weigh: (message: Message) => number;
}

export interface View {
  messages: Message[];
  dropped: number;
}

const LEFT_OUT = "(The earlier part of this conversation was left out.)";

/** Cuts a conversation to a window; nothing where all of it fits. Messages are never changed. */
export function cutToWindow(messages: readonly Message[], window: Window): View | undefined {
  const kept = keptAlways(messages, window);
  const room = kept < 0 ? window.size : window.size - window.weigh(messages[kept]!);
  const floor = kept === 0 ? 1 : 0;
  const from = findCut(messages, { room, floor, weigh: window.weigh });
  if (from === floor) return undefined;
  const tail = withoutLooseResults(messages.slice(from));
  const dropped = messages.length - tail.length;
  if (kept >= 0 && kept < from) return { messages: [messages[kept]!, ...tail], dropped: dropped - 1 };
  const [first] = tail;
  return { messages: first?.role === "assistant" ? [standIn(first), ...tail] : tail, dropped };
}

/** The place of the message that is sent whatever the window: a summary of all before it, or the task on request. */
function keptAlways(messages: readonly Message[], { keepFirst }: Window): number {
  const [first] = messages;
  if (first?.role === "custom" && first.customType === "compactionSummary") return 0;
  return keepFirst ? messages.findIndex(isOfUser) : -1;
}

/** Goes back from the end, an answer with all its results at a time, as far as there is room. */
function findCut(
  messages: readonly Message[],
  { room, floor, weigh }: { room: number; floor: number; weigh: Window["weigh"] },
): number {
  let from = messages.length;
  let left = room;
  while (from > floor) {
    let start = from;
    do left -= weigh(messages[--start]!);
    while (start > floor && messages[start]!.role === "toolResult");
    if (left < 0 && from < messages.length) break;
    from = start;
  }
  return from;
}

/** Results whose call is not there at all: somebody else cut before. */
function withoutLooseResults(messages: Message[]): Message[] {
  const start = messages.findIndex(({ role }) => role !== "toolResult");
  return start > 0 ? messages.slice(start) : messages;
}

function isOfUser({ role }: Message): boolean {
  return role !== "assistant" && role !== "toolResult";
}

/** What stands where the user began: no model takes a conversation that begins with an answer. */
function standIn({ timestamp }: Message): Message {
  return Object.freeze({ role: "user" as const, content: LEFT_OUT, timestamp });
}
