import type { AssistantMessage } from "@pi-agent/kernel";
import {
  comparableBlocks,
  hasRecordings,
  NO_RECORDINGS,
  readRecordings,
  replayRecording,
} from "@pi-agent/testing/house";
import { expect, test } from "vitest";
import { answerTo, model } from "./chunks.ts";

const all = [...readRecordings("gemini"), ...readRecordings("reconstructed", "gemini-")];

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

test("there are recordings to compare with", ({ skip }) => {
  skip(!hasRecordings(), NO_RECORDINGS);
  expect(all.length).toBeGreaterThan(90);
});

test.each(all)("recording $name", async (recording) => {
  const { meta, oracle, body } = recording;
  const { message } = await answerTo(replayRecording(recording), {
    model: model("gemini-2.5-flash", meta.model ? { id: meta.model } : {}),
  });
  if (meta.status !== 200) {
    expect(message.failure).toMatchObject({ kind: expect.not.stringMatching("unknown"), status: meta.status });
    return;
  }
  expect(message.usage).toMatchObject(countsOf(body));
  const told = shown(oracle.content);
  // The oracle takes each piece of streamed arguments for a call without a name.
  const whole = told.filter(({ name }) => name !== "");
  const isInPieces = body.includes("partialArgs") || whole.length < told.length;
  expect(shown(message.content)).toEqual(
    whole.map((block) => ({
      ...block,
      ...(MADE_BY_ORACLE.test(block.id ?? "") && { id: expect.stringMatching(/^call_/) }),
      ...(isInPieces && block.type === "toolCall" && { arguments: expect.any(String) }),
    })),
  );
});

/** Texts and calls. The oracle keeps an empty text without a signature too. */
function shown(content: AssistantMessage["content"]) {
  return comparableBlocks(content).filter(({ type, text }) => type !== "thinking" && text !== "");
}
