import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSession } from "../src/read.ts";
import { startDuet } from "./duet.ts";
import { tempFolder } from "./support.ts";

test("S3 two processes that begin one new session lose nothing of either", async () => {
  const cwd = tempFolder();
  const file = join(cwd, "new.jsonl");
  const [one, other] = await Promise.all([startDuet(file, cwd), startDuet(file, cwd)]);
  await one.type("first of one");
  await other.type("first of other");
  await Promise.all([one.type("second of one"), other.type("second of other")]);
  await Promise.all([one.end(), other.end()]);

  const { entries, problems } = readSession(file)!;
  expect(problems).toEqual([]);
  expect(readFileSync(file, "utf8").match(/"type":"session"/g)).toHaveLength(1);
  const said = JSON.stringify(entries);
  for (const text of ["first of one", "first of other", "second of one", "second of other"])
    expect(said).toContain(text);
  expect(entries.filter((entry) => entry.type === "message" && entry.message.role === "assistant")).toHaveLength(4);
}, 60_000);
