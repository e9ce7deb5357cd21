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
  ? [...load("anthropic", () => true), ...load("reconstructed", (file) => file.startsWith("anthropic-"))]
  : [];

/** Where the oracle is wrong: it loses arguments that come with the start of a call, and mixes those of a spliced answer. */
const RIGHT_ARGUMENTS: Readonly<Record<string, object>> = {
  "vercel-anthropic-programmatic-tool-calling.1": { player: "player1" },
  "vercel-spliced-message-start": { value: "Sparkle Day" },
};

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
  const { meta, oracle, name } = recording;
  const { events, message } = await answerTo(replay(recording, 1 + (name.length % 7) * 13), {
    model: model("claude-haiku-4-5", { id: meta.model }),
  });
  const terminal = events.filter(({ type }) => type === "done" || type === "error");
  expect(terminal).toEqual([events.at(-1)]);
  checkBlocks(events, message);
  if (meta.status !== 200) {
    expect(message.failure).toMatchObject({ kind: expect.not.stringMatching("unknown"), status: meta.status });
    expect(message.errorMessage).toBeTruthy();
    return;
  }
  const calls = (content: readonly unknown[]) =>
    content.filter((block) => (block as { type: string }).type !== "thinking");
  const expected = calls(oracle.content) as Record<string, unknown>[];
  const actual = calls(message.content) as Record<string, unknown>[];
  expect(actual.map(({ type }) => type)).toEqual(expected.map(({ type }) => type));
  actual.forEach((block, at) => {
    const told = expected[at]!;
    if (block.type === "text") expect(matchesCut(block.text, told.text), `text ${at}`).toBe(true);
    else if (!block.argumentsError) {
      // A cut call keeps none of its arguments; the oracle keeps what had come.
      expect([block.id, block.name]).toEqual([told.id, told.name]);
      expect(matchesCut(block.arguments, RIGHT_ARGUMENTS[name] ?? told.arguments), `call ${at}`).toBe(true);
    }
  });
  const { input, output, cacheRead, cacheWrite } = oracle.usage;
  expect(message.usage).toMatchObject({ input, output, cacheRead, cacheWrite });
});
