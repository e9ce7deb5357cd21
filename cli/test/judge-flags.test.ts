import { expect, test } from "vitest";
import { judgeFlags } from "../src/judge-flags.ts";

const judge = (flags: Record<string, string>, mode = "print") => judgeFlags(new Map(Object.entries(flags)), mode);

test.each(["json", "conversation"])("--log stdout is wrong usage in the mode %s", (mode) => {
  expect(judge({ log: "stdout" }, mode)).toMatchObject({
    what: expect.stringContaining("--log stdout"),
    hint: expect.any(String),
  });
  expect(judge({ log: "stderr" }, mode)).toBeUndefined();
});

test("--log stdout is right in print mode", () => {
  expect(judge({ log: "stdout" })).toBeUndefined();
});

test.each(["x", "", " ", "-1", "Infinity", "1e999"])("--cassette-speed %j is told in three parts", (speed) => {
  expect(judge({ "cassette-speed": speed })).toEqual({
    what: `--cassette-speed cannot be "${speed}"`,
    why: "it takes a number of characters per second",
    hint: "for example: --cassette-speed 400",
  });
});

test.each(["0", "400", "0.5"])("--cassette-speed %s is a speed", (speed) => {
  expect(judge({ "cassette-speed": speed })).toBeUndefined();
});
