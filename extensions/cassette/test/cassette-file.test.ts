import { expect, test } from "vitest";
import { parseCassette } from "../src/cassette-file.ts";

const HEADER = '{ "type": "cassette", "version": 1, "description": "d", "scripted": true }';

test("a scripted turn becomes blocks that arrive in small pieces, in the order thinking, text, calls", () => {
  const turn = {
    text: "Thirteen char",
    thinking: "Hm",
    calls: [{ name: "read", arguments: { path: "a" } }, { name: "ls" }],
  };
  const [line] = parseCassette(`${HEADER}\n\n${JSON.stringify(turn)}\n`);
  expect(line?.line).toBe(3);
  expect(line?.take.content.map(({ type }) => type)).toEqual(["thinking", "text", "toolCall", "toolCall"]);
  expect(line?.take.batches).toEqual([[[0, 2]], [[0]], [[1, 12]], [[1, 1]], [[1]], [[2, 12]], [[2]], [[3, 2]], [[3]]]);
  expect(line?.take).toMatchObject({ purpose: "turn", stopReason: "toolUse" });
});

test("a byte order mark and Windows line ends are read over", () => {
  expect(parseCassette(`\uFEFF${HEADER}\r\n{ "text": "a" }\r\n`)).toHaveLength(1);
});

test.each([
  ["", /line 1 is not JSON/],
  ['{ "type": "session", "version": 3 }', /line 1 is not the header/],
  ['{ "type": "cassette", "version": 2 }', /line 1 is of version 2/],
  [`${HEADER}\n{ "text": "a" }\n{ "text": `, /line 3 is not JSON/],
  [`${HEADER}\n["a"]`, /line 2 is not an object/],
  [`${HEADER}\n{ "words": "a" }`, /line 2 is neither/],
  [`${HEADER}\n{ "text": 5 }`, /line 2 is neither/],
  [`${HEADER}\n{ "calls": [{ "arguments": {} }] }`, /line 2 is neither/],
  [
    `${HEADER}\n{ "purpose": "turn", "stopReason": "stop", "content": [{ "type": "text" }], "batches": [] }`,
    /line 2 is neither/,
  ],
  [`${HEADER}\n{ "purpose": "turn", "stopReason": "stop", "content": [], "batches": [["a"]] }`, /line 2 is neither/],
])("%j is refused with the line and the reason", (text, why) => {
  expect(() => parseCassette(text)).toThrow(why);
});
