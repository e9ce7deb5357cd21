import { expect, test } from "vitest";
import { SafeText } from "../src/safe-text.ts";

const HARD =
  "a\u001b[1;31mred\u001b[0m \u001b]8;;http://x\u001b\\link\u001b]8;;\u0007 \u{1f600}\r\nb\rc\u001bM\u0000\u0008é\u001bPq#0\u001b\\.";

function cleaned(bytes: Buffer, pieceBytes: number): string {
  const safe = new SafeText();
  let text = "";
  for (let at = 0; at < bytes.length; at += pieceBytes) text += safe.push(bytes.subarray(at, at + pieceBytes));
  return text + safe.end();
}

test.each([1, 2, 3, 4, 7, 1_000])(
  "F082 F083 what is shown does not depend on how the bytes arrive: pieces of %d",
  (size) => {
    expect(cleaned(Buffer.from(HARD), size)).toBe("ared link \u{1f600}\nb\ncé.");
  },
);

test("F083 bytes that are no UTF-8 become replacement characters, also at the end", () => {
  expect(cleaned(Buffer.from([0x61, 0xc3, 0x28, 0xf0, 0x9f]), 1)).toBe("a\ufffd(\ufffd");
});

test("an escape sequence that never ends does not swallow what follows", () => {
  expect(cleaned(Buffer.from(`\u001b]0;title\nrest`), 3)).toBe("]0;title\nrest");
  expect(cleaned(Buffer.from(`\u001bP${"x".repeat(10_000)}`), 100)).toContain("x".repeat(5_000));
  expect(cleaned(Buffer.from("end\u001b["), 2)).toBe("end[");
});

test("F083 it says whether anything but escape sequences was left out", () => {
  const colour = new SafeText();
  colour.push(Buffer.from("\u001b[1mx\r\n"));
  expect(colour.isCleaned).toBe(false);
  colour.push(Buffer.from("\u0000"));
  expect(colour.isCleaned).toBe(true);
});
