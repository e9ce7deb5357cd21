import {
  comparableBlocks,
  hasRecordings,
  NO_RECORDINGS,
  readRecordings,
  replayRecording,
} from "@pi-agent/testing/house";
import { expect, test } from "vitest";
import { answerTo, model } from "./events.ts";

const all = [...readRecordings("anthropic"), ...readRecordings("reconstructed", "anthropic-")];

/** Where the oracle is wrong: it loses arguments that come with the start of a call, and mixes those of a spliced answer. */
const RIGHT_ARGUMENTS: Readonly<Record<string, object>> = {
  "vercel-anthropic-programmatic-tool-calling.1": { player: "player1" },
  "vercel-spliced-message-start": { value: "Sparkle Day" },
};

test("there are recordings to compare with", ({ skip }) => {
  skip(!hasRecordings(), NO_RECORDINGS);
  expect(all.length).toBeGreaterThan(90);
});

test.each(all)("recording $name", async (recording) => {
  const { meta, oracle, name } = recording;
  const { message } = await answerTo(replayRecording(recording), {
    model: model("claude-haiku-4-5", { id: meta.model }),
  });
  if (meta.status !== 200) {
    expect(message.failure).toMatchObject({ kind: expect.not.stringMatching("unknown"), status: meta.status });
    return;
  }
  const actual = message.content.filter(isNoThinking);
  const told = comparableBlocks(oracle.content.filter(isNoThinking)).map((block, at) => {
    const own = actual[at];
    // A cut call keeps none of its arguments; the oracle keeps what had come.
    const right = own?.type === "toolCall" && own.argumentsError !== undefined ? {} : RIGHT_ARGUMENTS[name];
    return block.type === "toolCall" && right ? { ...block, arguments: JSON.stringify(right) } : block;
  });
  expect(comparableBlocks(actual)).toEqual(told);
  const { input, output, cacheRead, cacheWrite } = oracle.usage;
  expect(message.usage).toMatchObject({ input, output, cacheRead, cacheWrite });
});

function isNoThinking({ type }: { type: string }): boolean {
  return type !== "thinking";
}
