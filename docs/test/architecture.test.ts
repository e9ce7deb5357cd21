import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

test("the page names every file of the kernel but its door, and no other", () => {
  const page = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
  const [, part = ""] = /^## How the kernel is put together\n([^]*?)^## /m.exec(page) ?? [];
  const told = [...part.matchAll(/[\w-]+\.ts/g)].map(([name]) => name);
  const files = globSync("kernel/src/*.ts", { cwd: ROOT }).map((path) => basename(path));
  expect(told.toSorted()).toEqual(files.filter((name) => name !== "index.ts").toSorted());
});
