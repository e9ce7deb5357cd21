import { expect, test } from "vitest";
import { foldedView, plainView, type TextView } from "../src/text-view.ts";

/** The stretch of the original that a stretch of the view stands for. */
function original(view: TextView, source: string, part: string): string {
  const at = view.text.indexOf(part);
  return source.slice(view.startOf(at), view.endOf(at + part.length - 1));
}

test.each([
  ["a\r\nb\r\nc", "a\nb\nc", "b\n", "b\r\n"],
  ["a\rb\r\n", "a\rb\n", "\rb", "\rb"],
])("the plain view of %j is %j", (source, text, part, there) => {
  const view = plainView(source);
  expect(view.text).toBe(text);
  expect(original(view, source, part)).toBe(there);
});

test.each([
  ["quotes", "\u201ca\u201d \u2018b\u2019", "\"a\" 'b'", 'a"', "a\u201d"],
  ["dashes", "1 \u2013 2 \u2212 3", "1 - 2 - 3", "2 -", "2 \u2212"],
  ["spaces", "a\u00a0b\u3000c\td", "a b c\td", "b c", "b\u3000c"],
  ["blanks at the end of lines", "a  \r\nb\u00a0\nc \t", "a\nb\nc", "a\nb", "a  \r\nb"],
  ["composition", "cafe\u0301 x", "café x", "café", "cafe\u0301"],
  ["a lone CR", "a\rb", "a\nb", "\n", "\r"],
  ["characters outside the basic plane", "\u{1f600}\u201d", '\u{1f600}"', '"', "\u201d"],
])("the folded view makes alike what looks alike: %s", (_name, source, text, part, there) => {
  const view = foldedView(source);
  expect(view.text).toBe(text);
  expect(original(view, source, part)).toBe(there);
});

test("what is not alike stays apart: indentation, runs of blanks, other scripts", () => {
  for (const text of ["\ta", "  a", "a  b", "x\u00b2", "\uff41"]) expect(foldedView(text).text).toBe(text);
});
