import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readSession } from "../src/read.ts";
import { header, lines, message, tempFolder } from "./support.ts";

function write(text: string | Buffer): string {
  const path = join(tempFolder(), "s.jsonl");
  writeFileSync(path, text);
  return path;
}

test("a file is read whole, whatever way its lines fall into chunks", () => {
  const entries = Array.from({ length: 3000 }, (_, n) =>
    message(String(n), n === 0 ? null : String(n - 1), "ä😀".repeat(n % 700)),
  );
  const text = lines(header(), ...entries);
  const read = readSession(write(text))!;
  expect(read.entries).toEqual(entries);
  expect(read.sizeBytes).toBe(Buffer.byteLength(text));
});

test("an empty file is no session yet", () => {
  expect(readSession(write(""))).toBeUndefined();
});

test("a link leads to the file itself", () => {
  const path = write(lines(header()));
  const link = join(tempFolder(), "link.jsonl");
  symlinkSync(path, link);
  expect(readSession(link)!.file).toBe(path);
});

describe("what is no session fails in three parts, and stays untouched", () => {
  test.each([
    ["text", "hello\nworld\n"],
    ["binary", Buffer.from([0, 1, 2, 255, 254, 10, 0])],
    ["entries without a header", lines(message("a", null))],
    ["a torn header", lines(header()).slice(0, 30)],
  ])("%s", (_, content) => {
    const path = write(content);
    expect(() => readSession(path)).toThrow(
      expect.objectContaining({
        code: "session_invalid",
        message: expect.stringContaining(path),
        hint: expect.any(String),
      }),
    );
    expect(readFileSync(path)).toEqual(Buffer.from(content));
  });

  test("a folder, a pipe, nothing at all", () => {
    const folder = tempFolder();
    mkdirSync(join(folder, "dir.jsonl"));
    execFileSync("mkfifo", [join(folder, "pipe.jsonl")]);
    for (const name of ["dir.jsonl", "pipe.jsonl", "none.jsonl"]) {
      expect(() => readSession(join(folder, name))).toThrow(
        expect.objectContaining({ code: "session_unreadable", hint: expect.any(String) }),
      );
    }
  });
});

test("S5 every line is parsed once", () => {
  let parses = 0;
  const original = JSON.parse;
  JSON.parse = (...given) => {
    parses++;
    return original(...given);
  };
  try {
    const entries = Array.from({ length: 500 }, (_, n) => message(String(n), n === 0 ? null : String(n - 1)));
    readSession(write(lines(header(), ...entries)));
  } finally {
    JSON.parse = original;
  }
  expect(parses).toBe(501);
});

test("F110 a file is read in memory for its entries, not for itself", () => {
  const path = write(lines(header()));
  const foreign = Buffer.from(`"${"x".repeat(1_000_000)}"\n`.repeat(10));
  for (let n = 0; n < 15; n++) appendFileSync(path, foreign);
  appendFileSync(path, lines(message("a", null)));
  const program = `
    const { readSession } = await import(${JSON.stringify(join(import.meta.dirname, "../src/read.ts"))});
    console.log(readSession(${JSON.stringify(path)}).entries.length);`;
  const options = ["--max-old-space-size=64", "--conditions", "@pi-agent/source", "--input-type=module", "-e", program];
  const { stdout, stderr } = spawnSync(process.execPath, options, { encoding: "utf8" });
  expect({ stdout, stderr }).toEqual({ stdout: "1\n", stderr: "" });
});
