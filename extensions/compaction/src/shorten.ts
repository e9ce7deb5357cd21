/** What is kept and is too long all the same: a result or a prompt as long as the window. It stays, without its middle. */
import type { Draft, Entry, Image, Text, UserContent } from "@pi-agent/kernel";
import { type Item, sumTokens } from "./view.ts";

/** As the kernel's estimate has it. */
const CHARS_PER_TOKEN = 4;
/** Shorter than this nothing becomes, in tokens: less says nothing. */
const LEAST_TOKENS = 250;
/** A little too much stays as it is: else the same part would be shortened by a few words at each turn. */
const SLACK = 1.25;
/** What the note in the place of the middle takes. */
const NOTE_CHARS = 90;
/** How much of what stays is its beginning. */
const HEAD = 2 / 3;

/** Tells whether what is kept is too long, even with edits that save so much. */
export function isTooLong(kept: readonly Item[], most: number, savedTokens = 0): boolean {
  return sumTokens(kept) - savedTokens > SLACK * most;
}

/** Drafts the edits that bring what is kept to about `most` tokens, where that is possible; the longest parts give most. */
export function shorten(
  kept: readonly Item[],
  most: number,
  entry: (id: string) => Entry | undefined,
): { edits: Draft<"context_edit">[]; savedTokens: number } {
  if (!isTooLong(kept, most)) return { edits: [], savedTokens: 0 };
  const isLong = ({ tokens }: Item) => tokens > LEAST_TOKENS;
  const parts = kept.filter((item) => isLong(item) && isEditable(item, entry));
  const spare = most - (sumTokens(kept) - sumTokens(parts));
  const cap = Math.max(
    LEAST_TOKENS,
    fairShare(
      parts.map(({ tokens }) => tokens),
      spare,
    ),
  );
  let savedTokens = 0;
  const edits: Draft<"context_edit">[] = [];
  for (const { message, entryId, tokens } of parts) {
    if (tokens <= cap) continue;
    const text = cutMiddle(textOf(message.content as UserContent), cap * CHARS_PER_TOKEN);
    savedTokens += tokens - Math.ceil(text.length / CHARS_PER_TOKEN);
    const content: UserContent = message.role === "toolResult" ? [{ type: "text", text }] : text;
    edits.push({ type: "context_edit", targetId: entryId!, replacement: { content } });
  }
  return { edits, savedTokens };
}

/** Tells whether an edit may change what an item says: Pi takes edits of these only. */
function isEditable({ entryId }: Item, entryOf: (id: string) => Entry | undefined): boolean {
  const entry = entryId === undefined ? undefined : entryOf(entryId);
  if (entry?.type === "custom_message") return true;
  return entry?.type === "message" && (entry.message.role === "user" || entry.message.role === "toolResult");
}

/** The size to which the larger ones are brought, so that all together are no larger than `room`. */
function fairShare(sizes: readonly number[], room: number): number {
  let left = room;
  const rising = sizes.toSorted((a, b) => a - b);
  for (const [at, size] of rising.entries()) {
    const share = Math.floor(left / (rising.length - at));
    if (size > share) return share;
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}

/** The text of a message, with a word for each image. */
export function textOf(content: string | readonly (Text | Image)[]): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : "[image left out]")).join("\n");
}

/** Takes so much out of the middle of a text that it has `maxChars` at most, and says so in its place. */
export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const room = Math.max(0, Math.floor(maxChars) - NOTE_CHARS);
  const head = Math.ceil(room * HEAD);
  const note = `[… ${text.length - room} characters left out: too long for the context window …]`;
  // A cut may fall between the two halves of a character.
  return `${text.slice(0, head).toWellFormed()}\n\n${note}\n\n${text.slice(text.length - room + head).toWellFormed()}`;
}
