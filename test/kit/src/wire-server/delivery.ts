import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

/** One write per event, all in one write, or writes of so many bytes, also in the middle of a character. */
export type Chunking = "event" | "burst" | `bytes:${number}`;

/** Cuts framed events into the pieces that are written one by one. */
export function chunkEvents(events: readonly string[], chunking: Chunking): Buffer[] {
  if (chunking === "event") return events.map((event) => Buffer.from(event));
  const whole = Buffer.from(events.join(""));
  const size = chunking === "burst" ? whole.length : Number(chunking.slice("bytes:".length));
  if (!(size >= 1)) return [];
  const chunks: Buffer[] = [];
  for (let at = 0; at < whole.length; at += size) chunks.push(whole.subarray(at, at + size));
  return chunks;
}

/** Writes the chunks one after the other, each handed to the system before the next. Stops when the client has left. */
export async function writeChunks(response: ServerResponse, chunks: readonly Buffer[]): Promise<void> {
  for (const chunk of chunks) {
    if (response.destroyed) return;
    await new Promise<void>((resolve) => response.write(chunk, () => resolve()));
  }
}

/** Waits, or until the client has left. */
export async function waitUnlessLeft(response: ServerResponse, delayMs: number): Promise<void> {
  const left = new AbortController();
  const leave = () => left.abort();
  response.once("close", leave);
  await delay(delayMs, undefined, { signal: left.signal }).catch(() => undefined);
  response.off("close", leave);
}
