import { expect, test } from "vitest";
import { processesWithVariable } from "../../test/kit/src/house.ts";
import { fillTemplate, namesIn, resolveValue } from "../src/value-template.ts";

const place = { cwd: "/", env: process.env };
const lookup = (name: string) => ({ KEY: "k-1", OTHER: "o-2", EMPTY: "" })[name];

test.each([
  ["plain text", "plain text", []],
  ["$KEY", "k-1", ["KEY"]],
  ["${KEY}-x", "k-1-x", ["KEY"]],
  ["a$KEY${OTHER}", "ak-1o-2", ["KEY", "OTHER"]],
  ["$$KEY", "$KEY", []],
  ["$!date", "!date", []],
  ["100$", "100$", []],
  ["${KEY", "${KEY", []],
  ["$1", "$1", []],
])("%j becomes %j", (template, value, names) => {
  expect(fillTemplate(template, lookup)).toEqual({ value });
  expect(namesIn(template)).toEqual(names);
});

test.each([
  ["$MISSING", "$MISSING is not set"],
  ["$KEY-$EMPTY-${GONE}", "$EMPTY, $GONE is not set"],
])("%j has no value, and says why", (template, why) => {
  expect(fillTemplate(template, lookup)).toEqual({ why });
});

test("a command's output is the value, trimmed, from a folder that no project steers", async () => {
  expect(await resolveValue("!printf '  %s \\n' \"$(pwd)\"", lookup, place)).toEqual({ value: "/" });
});

test.each([
  ["!exit 3", "its command ended with 3"],
  ["!true", "its command printed nothing"],
  ["!kill -TERM $$", "its command ended with SIGTERM"],
  ["!cat", "its command printed nothing"],
])("%j has no value, and says why", async (template, why) => {
  expect(await resolveValue(template, lookup, place)).toEqual({ why });
});

test("a command that hangs is ended after ten seconds, with everything it started", async () => {
  const mark = crypto.randomUUID();
  const resolved = await resolveValue(`!MARK=${mark} sleep 60 & wait`, lookup, place);
  expect(resolved).toEqual({ why: "its command took longer than 10 s" });
  await expect.poll(() => processesWithVariable("MARK", mark)).toEqual([]);
}, 30_000);
