import { expect, test } from "vitest";
import { toAnswerText, toTerminalLine, toTerminalText } from "../src/terminal-text.ts";

test("no escape sequence of a model or a tool reaches the terminal", () => {
  expect(toTerminalText("a\u001b[2Jb\u009bc\u0007d\re")).toBe("a\ufffd[2Jb\ufffdc\ufffdd\ufffde");
});

test("tabs and lines stay", () => {
  expect(toTerminalText("a\tb\r\nc\n")).toBe("a\tb\nc\n");
});

test("a line is one line, and no longer than told", () => {
  expect(toTerminalLine("  two\n  lines ", 20)).toBe("two lines");
  expect(toTerminalLine("abcdefgh", 5)).toBe("abcd…");
});

test.each([0x202e, 0x2066, 0x200f, 0x061c, 0x200b, 0x200d, 0xad, 0xfeff, 0xe0041, 0x2028, 0x2029])(
  "what turns or hides text is shown as such: %i",
  (code) => expect(toTerminalText(`a${String.fromCodePoint(code)}b`)).toBe("a\ufffdb"),
);

test("an answer keeps its emoji whole, and turns no text", () => {
  expect(toAnswerText("\u{1f469}\u200d\u{1f4bb}\tb\r\n")).toBe("\u{1f469}\u200d\u{1f4bb}\tb\n");
  const turning = ["\u001b", "\u009b", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069"];
  expect(toAnswerText(turning.join(""))).toBe("\ufffd".repeat(turning.length));
});
