import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AssistantMessage } from "@pi-agent/kernel";
import type { Reply } from "./serve.ts";

/** Where recorded traffic is looked for: beside the repository, never in it. */
export const RECORDINGS: string = join(import.meta.dirname, "../../../../../shared/recordings");

/** What a test says that is skipped for want of recordings. */
export const NO_RECORDINGS = `there are no recordings at ${RECORDINGS}: nothing is compared with real traffic`;

export function hasRecordings(): boolean {
  return existsSync(RECORDINGS);
}

/** One recorded answer of a service. */
export interface Recording {
  name: string;
  folder: string;
  meta: {
    status: number;
    /** Empty where it is not known. */
    model: string;
    tags: string[];
    /** Where the borders of its chunks fell, if that was recorded. */
    chunkByteLengths?: number[];
    responseHeaders?: Record<string, string>;
  };
  isStream: boolean;
  body: Buffer;
  /** What Pi 0.73.1 made of it. Long texts are cut, as `cutLongTexts` does. */
  oracle: Pick<AssistantMessage, "content" | "stopReason" | "usage">;
}

/** Reads the recordings of a folder that are streams or errors, and whose names begin with `prefix`. */
export function readRecordings(folder: string, prefix = ""): Recording[] {
  if (!hasRecordings()) return [];
  const at = join(RECORDINGS, folder);
  const readJson = (file: string) => JSON.parse(readFileSync(join(at, file), "utf8"));
  const { results } = readJson("expected-by-pi-0.73.1.json");
  return readdirSync(at)
    .filter((file) => file.startsWith(prefix) && file.endsWith(".meta.json"))
    .map((file) => file.slice(0, -".meta.json".length))
    .filter((name) => results[name])
    .map((name) => {
      const isStream = existsSync(join(at, `${name}.response.sse`));
      const body = readFileSync(join(at, `${name}.response.${isStream ? "sse" : "json"}`));
      return { name, folder, meta: readJson(`${name}.meta.json`), isStream, body, oracle: results[name].message };
    });
}

/** Of the connection that was recorded, not of the answer. */
const HOP_HEADERS = /^(?:content-(?:length|encoding)|transfer-encoding|connection)$/i;

/**
 * Replays an answer in pieces of so many bytes. Left out: in its recorded chunks, or in pieces whose borders fall
 * anywhere. `Infinity` makes it one piece.
 */
export function replayRecording(recording: Recording, pieceBytes?: number): Reply {
  const { meta, body, isStream } = recording;
  const kept = Object.entries(meta.responseHeaders ?? {}).filter(([name]) => !HOP_HEADERS.test(name));
  const type = { "content-type": isStream ? "text/event-stream" : "application/json" };
  const lengths = pieceBytes === undefined ? (meta.chunkByteLengths ?? []) : [];
  const size = pieceBytes ?? pieceBytesOf(recording);
  return (response) => {
    response.writeHead(meta.status, { ...type, ...Object.fromEntries(kept) });
    for (let from = 0, piece = 0; from < body.length; piece++) {
      const to = from + (lengths[piece] ?? size);
      response.write(body.subarray(from, to));
      from = to;
    }
    response.end();
  };
}

/** From 1 to 79 bytes, the same for a recording every time. */
function pieceBytesOf({ name }: Recording): number {
  return 1 + (name.length % 7) * 13;
}

const LONG_CHARACTERS = 400;
const KEPT_CHARACTERS = 120;

/** Cuts every long text in a value as the oracle does: the first 120 characters, and the length of the whole. */
export function cutLongTexts(value: unknown): unknown {
  if (typeof value === "string" && value.length > LONG_CHARACTERS) {
    return `${value.slice(0, KEPT_CHARACTERS)}…[${value.length} chars]`;
  }
  if (Array.isArray(value)) return value.map(cutLongTexts);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, cutLongTexts(member)]));
}

/** What an answer and the oracle's can have in common of a block. */
export interface ComparableBlock {
  type: string;
  text?: string;
  thinking?: string;
  id?: string;
  name?: string;
  /** As JSON, so that the order of the fields counts. */
  arguments?: string;
}

/** Reduces blocks to what the oracle can tell of them, with long texts cut. */
export function comparableBlocks(content: AssistantMessage["content"]): ComparableBlock[] {
  return (cutLongTexts(content) as AssistantMessage["content"]).map((block) => {
    if (block.type === "text") return { type: "text", text: block.text };
    if (block.type === "thinking") return { type: "thinking", thinking: block.thinking };
    return { type: "toolCall", id: block.id, name: block.name, arguments: JSON.stringify(block.arguments) };
  });
}
