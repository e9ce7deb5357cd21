import type { AssistantMessage, FailureKind } from "@pi-agent/kernel";
import {
  comparableBlocks,
  hasRecordings,
  NO_RECORDINGS,
  type Recording,
  readRecordings,
  replayRecording,
} from "@pi-agent/testing/house";
import { expect, test } from "vitest";
import { chatApi } from "../src/chat.ts";
import { responsesApi } from "../src/responses.ts";
import { ask, createModel } from "./support.ts";

const all = [
  ...readRecordings("openai-chat"),
  ...readRecordings("openai-responses"),
  ...readRecordings("reconstructed", "openai-chat"),
];

const KIND_OF_STATUS: Record<number, FailureKind> = {
  400: "invalid_request",
  401: "auth",
  404: "invalid_request",
  429: "rate_limit",
  500: "server",
  503: "overloaded",
};
/** Where the status alone does not tell. */
const FAILURES: readonly [RegExp, FailureKind][] = [
  [/context_length_exceeded|request-too-large/, "context_overflow"],
  [/insufficient-quota/, "quota"],
  [/appropriate_auth_error/, "auth"],
  [/tool_use_failed/, "malformed_response"],
];

type Check = (message: AssistantMessage) => void;

const isCut: Check = (message) => {
  expect(message.stopReason).toBe("length");
  expect(message.content.at(-1)).toMatchObject({ type: "toolCall", arguments: {}, argumentsError: expect.any(String) });
};
const isRefusal: Check = (message) => {
  expect(message).toMatchObject({ stopReason: "stop", rawStopReason: "refusal" });
  expect(message.content).toEqual([{ type: "text", text: expect.stringMatching(/sorry/i) }]);
};
const isLength: Check = (message) => {
  expect(message.stopReason).toBe("length");
  expect(message.usage.totalTokens).toBeGreaterThan(0);
};
const hasThinkingApart: Check = (message) => {
  expect(message.content.map(({ type }) => type)).toEqual(["thinking", "text"]);
  expect(JSON.stringify(message.content)).not.toContain("[object Object]");
};
const isFailure =
  (kind: FailureKind): Check =>
  (message) => {
    expect(message).toMatchObject({ stopReason: "error", failure: { kind } });
  };

/** Where Pi 0.73.1 was wrong, as INDEX.md has it, or kept what we do not. The first name that fits decides. */
const DIFFERENT: readonly [RegExp, Check][] = [
  [/refusal_matrix-(?:chat_)?streaming/, isRefusal],
  [/truncation_matrix-streaming_(?:tool_call_cut|gpt4)/, isCut],
  [/incomplete_mid_tool_call/, isCut],
  [/incomplete_max_output_tokens|responses_streaming_reasoning_budget_exhausted/, isLength],
  [/mistral_hybrid_reasoning|vercel-mistral-reasoning/, hasThinkingApart],
  [/parallel-tool-call-wrapper/, isFailure("malformed_response")],
  [/sse-cut-mid-tool-args/, isFailure("network")],
  // The parts were written by hand, and the deltas tell another text than the item.
  [/vercel-openai-shell-(?:container|skills)/, (message) => expect(message.stopReason).toBe("stop")],
];

function play(recording: Recording, pieceBytes?: number) {
  const { folder, meta } = recording;
  const [name, api] = folder === "openai-responses" ? [folder, responsesApi] : ["openai-completions", chatApi];
  return ask(api, replayRecording(recording, pieceBytes), {
    model: createModel({ id: meta.model || "m1", api: name }),
  });
}

test("there are recordings to compare with", ({ skip }) => {
  skip(!hasRecordings(), NO_RECORDINGS);
  expect(all.length).toBeGreaterThan(140);
});

test.each(all)("$folder/$name is read as it was meant, in pieces and as one", async (recording) => {
  for (const pieceBytes of [undefined, Number.POSITIVE_INFINITY]) {
    const { message } = await play(recording, pieceBytes);
    checkAnswer(recording, message);
  }
});

function checkAnswer({ name, meta: { status }, body, oracle }: Recording, message: AssistantMessage): void {
  if (status >= 400) {
    const kind = FAILURES.find(([pattern]) => pattern.test(name))?.[1] ?? KIND_OF_STATUS[status];
    expect(message).toMatchObject({ stopReason: "error", content: [], failure: { kind, status } });
    return;
  }
  const different = DIFFERENT.find(([pattern]) => pattern.test(name));
  if (different) return different[1](message);
  const hasCalls = message.content.some(({ type }) => type === "toolCall");
  const wanted = oracle.stopReason === "stop" && hasCalls ? "toolUse" : oracle.stopReason;
  expect(message.stopReason).toBe(wanted);
  expect(comparableBlocks(message.content)).toEqual(comparableBlocks(oracle.content).map(withoutItemId));
  if (wanted !== "error") expect(counts(message.usage)).toEqual(counts(oracle.usage));
  if (/"usage"\s*:\s*\{/.test(body.toString())) expect(message.usage.totalTokens).toBeGreaterThan(0);
}

/** The oracle puts the id of an item behind that of a call. */
function withoutItemId<B extends { id?: string }>(block: B): B {
  return block.id === undefined ? block : { ...block, id: block.id.split("|")[0] };
}

function counts({ input, output, cacheRead, totalTokens }: AssistantMessage["usage"]) {
  return { input, output, cacheRead, totalTokens };
}
