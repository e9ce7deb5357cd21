import type { AssistantMessage, Message } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { assistantMessage, toolCall, toolResult, userMessage } from "../src/provider/messages.ts";
import { SCRIPTED_MODEL } from "../src/scripted-provider.ts";
import { assertValidForStrictProvider, listStrictProblems } from "../src/strict-transcript.ts";

const ask = userMessage("Read both files.");
const answer = (...content: AssistantMessage["content"]) => assistantMessage(SCRIPTED_MODEL, content);
const calls = answer({ type: "text", text: "Both:" }, toolCall("a"), toolCall("b", { name: "ls" }));
const resultA = toolResult("a", "one");
const resultB = toolResult("b", "two", { toolName: "ls" });

test("a conversation whose calls have their results, in any order, is valid (K7)", () => {
  assertValidForStrictProvider([]);
  assertValidForStrictProvider([ask, calls, resultB, resultA, ask, answer({ type: "text", text: "Done." })]);
  assertValidForStrictProvider([ask, calls, resultA, resultB, calls, resultA, resultB]);
});

const CASES: [string, Message[], RegExp][] = [
  ["a call without a result", [ask, calls, resultA], /message 2: the call b has no result directly after it/],
  ["a result that comes too late", [ask, calls, resultA, ask, resultB], /message 4: a result of b, which no call/],
  ["a result without a call", [ask, resultA], /message 1: a result of a, which no call/],
  ["a second result of one call", [ask, calls, resultA, resultA, resultB], /message 3: a second result of a/],
  [
    "a result under another name",
    [ask, calls, toolResult("a", "one", { toolName: "ls" }), resultB],
    /names ls, and the call names read/,
  ],
  [
    "two calls with one id",
    [ask, answer(toolCall("a"), toolCall("a", { name: "ls" })), toolResult("a", "x", { toolName: "ls" })],
    /two calls with the id a/,
  ],
  [
    "a call without a name",
    [ask, answer(toolCall("a", { name: "" })), toolResult("a", "x", { toolName: "" })],
    /without an id or a name/,
  ],
  ["arguments that are a list", [ask, answer({ ...toolCall("a"), arguments: [] as never }), resultA], /are no object/],
  ["an unknown role", [{ ...ask, role: "system" } as never], /the role "system"/],
  ["an answer that begins it", [answer({ type: "text", text: "Hello." })], /begins with an answer/],
  [
    "a failed answer",
    [ask, assistantMessage(SCRIPTED_MODEL, [{ type: "text", text: "Sto" }], { stopReason: "aborted" })],
    /ended as aborted/,
  ],
  ["an empty text", [userMessage("")], /an empty text/],
  ["a blank text block", [ask, answer({ type: "text", text: " \n" })], /an empty text block/],
  [
    "a block of another role",
    [ask, answer({ type: "image", data: "", mimeType: "image/png" } as never)],
    /image block/,
  ],
  ["half a surrogate pair in a text", [userMessage("\ud800")], /not well-formed/],
  [
    "half a surrogate pair in a key of the arguments",
    [ask, answer({ ...toolCall("a"), arguments: { "\udc00": 1 } }), resultA],
    /not well-formed/,
  ],
];

for (const [name, messages, problem] of CASES) {
  test(`${name} is refused, with its place`, () => {
    expect(listStrictProblems(messages)).toHaveLength(name === "a result that comes too late" ? 2 : 1);
    expect(() => assertValidForStrictProvider(messages)).toThrow(problem);
  });
}
