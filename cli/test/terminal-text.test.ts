import { expect, test } from "vitest";
import { toTerminalLine, toTerminalText } from "../src/terminal-text.ts";

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
