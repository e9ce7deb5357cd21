import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { OutputTail } from "../src/output-tail.ts";
import { tempFolder } from "./tool-call.ts";

function tailOf(pieces: string[], limits: { maxLines: number; maxBytes: number }) {
  const directory = tempFolder();
  const tail = new OutputTail({ ...limits, directory });
  for (const piece of pieces) tail.push(piece, Buffer.from(piece));
  tail.close();
  return { tail, directory };
}

test("a short output is shown whole and makes no file", () => {
  const { tail, directory } = tailOf(["a\n", "b"], { maxLines: 2, maxBytes: 10 });
  expect(tail.show()).toEqual({ text: "a\nb" });
  expect(readdirSync(directory)).toEqual([]);
});

test("of a long output the last whole lines are shown, and the file holds every byte", () => {
  const pieces = Array.from({ length: 1_000 }, (_, index) => `line ${index}\n`);
  const { tail } = tailOf(pieces, { maxLines: 5_000, maxBytes: 20 });
  expect(tail.show()).toMatchObject({
    text: "line 998\nline 999",
    truncation: { totalLines: 1_000, truncatedBy: "bytes" },
  });
  expect(tail.show().notice).toBe(`[Showing lines 999-1000 of 1000 (20B limit). Full output: ${tail.path}]`);
  expect(readFileSync(tail.path!, "utf8")).toBe(pieces.join(""));
});

test("F082 a line that was cut while it grew is never shown as whole", () => {
  for (let extra = 0; extra < 12; extra++) {
    const { tail } = tailOf([...Array.from({ length: 30 + extra }, () => "x"), "\n", "0123456\n"], {
      maxLines: 9,
      maxBytes: 16,
    });
    expect(tail.show().text).toBe("0123456");
  }
});

test("text that is longer than its bytes counts as text", () => {
  const tail = new OutputTail({ maxLines: 9, maxBytes: 8, directory: tempFolder() });
  tail.push("\ufffd\ufffd\ufffd\ufffd", Buffer.from([0xff, 0xff, 0xff, 0xff]));
  tail.close();
  expect(tail.show().notice).toContain("Full output: ");
});

test("where no file can be made, that is said and the tail is shown all the same", () => {
  const tail = new OutputTail({ maxLines: 1, maxBytes: 8, directory: "/no/such/folder" });
  tail.push("a\nb\n", Buffer.from("a\nb\n"));
  expect(tail.show()).toMatchObject({
    text: "b",
    notice: expect.stringContaining("could not be kept: ENOENT") as string,
  });
});
