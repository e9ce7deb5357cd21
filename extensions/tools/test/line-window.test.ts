import { expect, test } from "vitest";
import { LineWindow } from "../src/line-window.ts";

/** Feeds a text in pieces of a size. */
function windowOf(text: string, pieceBytes: number, limits: { first: number; maxLines: number; maxBytes: number }) {
  const window = new LineWindow(limits);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) window.push(bytes.subarray(at, at + pieceBytes));
  window.end();
  return window;
}

test.each([1, 2, 3, 5, 7, 100])("what is kept does not depend on how the bytes arrive: pieces of %d", (pieceBytes) => {
  const text = "one\n\nthree\nfour\nfive";
  const within = windowOf(text, pieceBytes, { first: 1, maxLines: 2, maxBytes: 100 });
  expect(within.bytes().toString()).toBe("\nthree\n");
  expect(within).toMatchObject({ keptLines: 2, totalLines: 5, fullBy: "lines", totalBytes: 20 });
  const short = windowOf(text, pieceBytes, { first: 2, maxLines: 9, maxBytes: 10 });
  expect(short.bytes().toString()).toBe("three\nfour\n");
  expect(short).toMatchObject({ keptLines: 2, fullBy: "bytes" });
  const last = windowOf(text, pieceBytes, { first: 4, maxLines: 9, maxBytes: 4 });
  expect(last.bytes().toString()).toBe("five");
  expect(last.fullBy).toBeUndefined();
});

test.each([1, 3, 100])("a first line over the limit is measured and not kept: pieces of %d", (pieceBytes) => {
  const window = windowOf("aaaaaaaa\nb\n", pieceBytes, { first: 0, maxLines: 9, maxBytes: 4 });
  expect(window).toMatchObject({ keptLines: 0, fullBy: "bytes", longLineBytes: 9, totalLines: 2 });
  expect(window.bytes()).toHaveLength(0);
});
