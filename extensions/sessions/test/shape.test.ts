import { describe, expect, test } from "vitest";
import { parseSession } from "../src/format.ts";
import { describeProblems } from "../src/problems.ts";
import { header, lines, message } from "./support.ts";

const NO_USAGE = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const answer = (more: object) => ({
  role: "assistant",
  content: [],
  api: "a",
  provider: "p",
  model: "m",
  usage: NO_USAGE,
  stopReason: "stop",
  timestamp: 1,
  ...more,
});
const call = { type: "toolCall", id: "c", name: "n", arguments: {} };
const user = (content: unknown) => ({ role: "user", content, timestamp: 1 });
const result = (more: object) => ({ role: "toolResult", toolCallId: "c", toolName: "n", content: [], ...more });
const text = { type: "text", text: "x" };

/** The second of three entries as it is read, and the problems. */
function read(entry: object) {
  const file = lines(
    header(),
    message("a", null),
    { id: "b", parentId: "a", timestamp: "t", ...entry },
    message("c", "b"),
  );
  const { entries, problems } = parseSession(file)!;
  expect(entries.at(-1)?.id).toBe("c");
  return { read: entries.find(({ id }) => id === "b"), problems };
}

describe("good JSON of a wrong shape is mended, and told", () => {
  test.each<[string, object, object]>([
    ["content true", user(true), user([])],
    ["a null block", user([null, text]), user([text])],
    ["a text block that is a number", user([{ type: "text", text: 5 }, text]), user([text])],
    ["an image without data", user([{ type: "image", mimeType: "image/png" }]), user([])],
    ["an answer with a text as content", answer({ content: "x" }), answer({ content: [text] })],
    ["arguments []", answer({ content: [{ ...call, arguments: [] }] }), answer({ content: [call] })],
    ["a call without a name", answer({ content: [text, { ...call, name: null }] }), answer({ content: [text] })],
    ["usage null", answer({ usage: null }), answer({})],
    [
      "usage of texts",
      answer({ usage: { ...NO_USAGE, input: "9", cost: { ...NO_USAGE.cost, total: {} } } }),
      answer({}),
    ],
    [
      "a signature that is no text",
      answer({ content: [{ ...call, thoughtSignature: 1 }] }),
      answer({ content: [call] }),
    ],
    ["a result with content {}", result({ content: {} }), result({})],
    ["a system message with content []", { role: "system", content: [] }, { role: "system", content: "" }],
    ["tools that are none", { role: "system", content: "", toolsAdded: [null] }, { role: "system", content: "" }],
  ])("%s", (_, given, mended) => {
    const { read: entry, problems } = read({ type: "message", message: given });
    expect(entry).toMatchObject({ message: mended });
    expect((entry as { message?: object }).message).toEqual(mended);
    expect(problems).toEqual([{ kind: "bad_shape", entryId: "b" }]);
  });

  test.each<[string, object, object]>([
    ["custom_message", { customType: "x", content: 5 }, { customType: "x", content: [] }],
    ["context_edit", { targetId: "a", replacement: { content: [null] } }, { replacement: { content: [] } }],
    ["session_info", { name: 5 }, { name: "" }],
    ["compaction", { summary: "s", firstKeptEntryId: "a", tokensBefore: "x" }, { tokensBefore: 0 }],
    ["usage", { kind: "k", provider: "p", model: "m", usage: [] }, { usage: NO_USAGE }],
  ])("an entry %s", (type, given, mended) => {
    const { read: entry, problems } = read({ type, ...given });
    expect(entry).toMatchObject({ type, ...mended });
    expect(problems).toEqual([{ kind: "bad_shape", entryId: "b" }]);
  });
});

test("usage and content that are only missing get their defaults without a word", () => {
  const { usage: _, content: __, ...bare } = answer({});
  const { read: entry, problems } = read({ type: "message", message: bare });
  expect(entry).toMatchObject({ message: answer({}) });
  expect(problems).toEqual([]);
});

test.each<[string, object]>([
  ["message", { message: 5 }],
  ["message", { message: { role: 7 } }],
  ["message", { message: result({ toolCallId: 1 }) }],
  ["compaction", { summary: null }],
  ["model_change", { provider: "p" }],
  ["context_edit", { targetId: "a" }],
  ["label", {}],
])("an entry %s without what it is for is set aside, and told: %j", (type, given) => {
  const { read: entry, problems } = read({ type, ...given });
  expect(entry).toBeUndefined();
  expect(problems[0]).toEqual({ kind: type === "message" ? "bad_message" : "bad_entry", entryId: "b" });
  expect(describeProblems("f", problems)).toContain("(b)");
});
