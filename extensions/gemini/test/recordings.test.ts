import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AssistantMessage, StreamEvent } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { answerTo, model, type Reply } from "./serve.ts";

const RECORDINGS = join(import.meta.dirname, "../../../../shared/recordings");
const isThere = existsSync(RECORDINGS);

interface Recording {
  name: string;
  meta: {
    status: number;
    model: string;
    tags: string[];
    chunkByteLengths?: number[];
    responseHeaders: Record<string, string>;
  };
  body: Buffer;
  oracle: { content: Record<string, unknown>[]; usage: Record<string, number> };
}

function load(folder: string, isOurs: (name: string) => boolean): Recording[] {
  const dir = join(RECORDINGS, folder);
  const oracle = JSON.parse(readFileSync(join(dir, "expected-by-pi-0.73.1.json"), "utf8")).results;
  return readdirSync(dir)
    .filter((file) => file.endsWith(".meta.json") && isOurs(file))
    .map((file) => file.replace(".meta.json", ""))
    .filter((name) => oracle[name])
    .map((name) => {
      const stream = join(dir, `${name}.response.sse`);
      return {
        name,
        meta: JSON.parse(readFileSync(join(dir, `${name}.meta.json`), "utf8")),
        body: readFileSync(existsSync(stream) ? stream : join(dir, `${name}.response.json`)),
        oracle: oracle[name].message,
      };
    });
}

const all = isThere
  ? [...load("gemini", () => true), ...load("reconstructed", (file) => file.startsWith("gemini-"))]
  : [];

/** How an id looks that the oracle made because the service gave none. */
const MADE_BY_ORACLE = /_\d{13}_\d+$/;

/** The counts of the last chunk. The oracle leaves out what the service's own tools read, and a last event without its blank line. */
function countsOf(body: Buffer) {
  const [, last] = [...body.toString().matchAll(/^data: (\{.*"usageMetadata".*\})\s*$/gm)].at(-1) ?? [];
  if (last === undefined) return {};
  const { usageMetadata: told } = JSON.parse(last) as { usageMetadata: Record<string, number | undefined> };
  const { promptTokenCount = 0, cachedContentTokenCount = 0, toolUsePromptTokenCount = 0 } = told;
  return {
    input: promptTokenCount - cachedContentTokenCount + toolUsePromptTokenCount,
    output: (told.candidatesTokenCount ?? 0) + (told.thoughtsTokenCount ?? 0),
    cacheRead: cachedContentTokenCount,
  };
}

/** Replays in the recorded chunks, or in pieces of `size` bytes, which fall anywhere. */
function replay({ meta, body }: Recording, size: number): Reply {
  return (response) => {
    const { "retry-after": retryAfter } = meta.responseHeaders ?? {};
    response.writeHead(meta.status, retryAfter ? { "retry-after": retryAfter } : {});
    let from = 0;
    for (const length of meta.chunkByteLengths ?? Array.from({ length: Math.ceil(body.length / size) }, () => size)) {
      response.write(body.subarray(from, from + length));
      from += length;
    }
    response.end();
  };
}

/** Every block starts, grows and ends once, in order, and all deltas make its content. */
function checkBlocks(events: StreamEvent[], message: AssistantMessage) {
  const texts = new Map<number, string>();
  const ended = new Set<number>();
  for (const event of events) {
    if (!("contentIndex" in event)) continue;
    const { contentIndex: at } = event;
    expect(ended.has(at)).toBe(false);
    if (event.type.endsWith("_start")) texts.set(at, "");
    else if ("delta" in event) texts.set(at, texts.get(at)! + event.delta);
    else ended.add(at);
  }
  expect([...ended].sort((a, b) => a - b)).toEqual(message.content.map((_, at) => at));
  message.content.forEach((block, at) => {
    if (block.type === "text") expect(block.text).toBe(texts.get(at));
    else if (block.type === "thinking") expect(block.thinking).toBe(texts.get(at));
    else if (!block.argumentsError && texts.get(at) !== "") expect(block.arguments).toEqual(JSON.parse(texts.get(at)!));
  });
}

/** The oracle cuts long strings: `first 400 characters…[9 chars]`. */
function matchesCut(actual: unknown, cut: unknown): boolean {
  if (typeof cut === "string" && typeof actual === "string") {
    const [, head, length] = /^([^]*)…\[(\d+) chars\]$/.exec(cut) ?? [];
    return head === undefined ? actual === cut : actual.startsWith(head) && actual.length === Number(length);
  }
  if (typeof cut !== "object" || cut === null) return actual === cut;
  const entries = Object.entries(cut);
  return (
    Object.keys(actual as object).length === entries.length &&
    entries.every(([key, value]) => matchesCut((actual as Record<string, unknown>)[key], value))
  );
}

if (!isThere) {
  test.skip(`the recordings are not at ${RECORDINGS}: nothing is compared with real traffic`, () => {});
}

test.runIf(isThere)("there are recordings to compare with", () => {
  expect(all.length).toBeGreaterThan(90);
});

test.each(all)("recording $name", async (recording) => {
  const { meta, oracle } = recording;
  const { events, message } = await answerTo(replay(recording, 1 + (recording.name.length % 7) * 13), {
    model: model("gemini-2.5-flash", meta.model ? { id: meta.model } : {}),
  });
  const terminal = events.filter(({ type }) => type === "done" || type === "error");
  expect(terminal).toEqual([events.at(-1)]);
  checkBlocks(events, message);
  if (meta.status !== 200) {
    expect(message.failure).toMatchObject({ kind: expect.not.stringMatching("unknown"), status: meta.status });
    expect(message.errorMessage).toBeTruthy();
    return;
  }
  expect(message.usage).toMatchObject(countsOf(recording.body));
  const actual = shown(message.content);
  // The oracle takes each piece of streamed arguments for a call without a name.
  const expected = shown(oracle.content).filter(({ type, name }) => type === "text" || name !== "");
  const isInPieces = recording.body.includes("partialArgs") || expected.length < shown(oracle.content).length;
  expect(actual.map(({ type }) => type)).toEqual(expected.map(({ type }) => type));
  actual.forEach((block, at) => {
    const told = expected[at]!;
    if (block.type === "text") expect(matchesCut(block.text, told.text), `text ${at}`).toBe(true);
    else {
      expect(block.name).toBe(told.name);
      if (MADE_BY_ORACLE.test(told.id as string)) expect(block.id).toMatch(/^call_/);
      else expect(block.id).toBe(told.id);
      if (!isInPieces) expect(matchesCut(block.arguments, told.arguments), `call ${at}`).toBe(true);
    }
  });
});

/** Texts and calls. The oracle keeps an empty text without a signature too. */
function shown(content: readonly unknown[]): Record<string, unknown>[] {
  return (content as Record<string, unknown>[]).filter(({ type, text }) => type !== "thinking" && text !== "");
}
