import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SessionFile } from "../src/session-file.ts";
import { tempFolder } from "./support.ts";

test("S3: what another program appends between a look and a write is growth, and nothing of it is written over", () => {
  const path = join(tempFolder(), "s.jsonl");
  const one = new SessionFile({ path });
  expect(one.check()).toBe("new");
  one.append(['{"type":"session","id":"s"}\n']);
  const other = new SessionFile({ path, sizeBytes: readFileSync(path).length });
  expect([one.check(), other.check()]).toEqual(["same", "same"]);
  other.append(["other\n"]);
  one.append(["one\n"]);
  expect([one.check(), other.check()]).toEqual(["grown", "grown"]);
  one.append(["one again\n"]);
  expect([one.check(), other.check()]).toEqual(["same", "grown"]);
  for (const file of [one, other]) file.close();
  expect(readFileSync(path, "utf8")).toBe('{"type":"session","id":"s"}\nother\none\none again\n');
});
