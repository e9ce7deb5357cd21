import { expect, test } from "vitest";
import { cutText, formatSize, truncateHead, truncateTail } from "../src/truncate.ts";

test.each([
  ["nothing to cut", "a\nb\n", {}, "a\nb\n", null],
  ["lines", "a\nb\nc\n", { maxLines: 2 }, "a\nb", "lines"],
  ["bytes", "aa\nbb\ncc", { maxBytes: 5 }, "aa\nbb", "bytes"],
  ["a first line that is too long", "aaaa\nb", { maxBytes: 3 }, "", "bytes"],
  ["only the final newline over the limit", "abc\n", { maxBytes: 3 }, "abc", null],
] as const)("truncateHead keeps whole lines from the start: %s", (_name, text, limits, content, truncatedBy) => {
  expect(truncateHead(text, limits)).toMatchObject({ content, truncatedBy, truncated: truncatedBy !== null });
});

test.each([
  ["nothing to cut", "a\nb\n", {}, "a\nb\n", null],
  ["lines", "a\nb\nc\n", { maxLines: 2 }, "b\nc", "lines"],
  ["bytes", "aa\nbb\ncc", { maxBytes: 5 }, "bb\ncc", "bytes"],
  ["a last line that is too long", "b\naaaa", { maxBytes: 3 }, "aaa", "bytes"],
  ["a character at the cut", "\u{1f600}\u{1f600}", { maxBytes: 7 }, "\u{1f600}", "bytes"],
] as const)("truncateTail keeps whole lines from the end: %s", (_name, text, limits, content, truncatedBy) => {
  expect(truncateTail(text, limits)).toMatchObject({ content, truncatedBy });
});

test("a final newline is no further line", () => {
  expect(truncateHead("a\nb\n").totalLines).toBe(2);
  expect(truncateHead("").totalLines).toBe(0);
});

test("F082 a text is never cut through a character", () => {
  expect(cutText("a\u{1f600}", 2)).toBe("a");
  expect(cutText("a\u{1f600}", 3)).toBe("a\u{1f600}");
});

test.each([
  [512, "512B"],
  [51_200, "50.0KB"],
  [3 * 1_024 ** 2, "3.0MB"],
  [10 * 1_024 ** 3, "10.0GB"],
])("%d bytes read as %s", (bytes, shown) => {
  expect(formatSize(bytes)).toBe(shown);
});
