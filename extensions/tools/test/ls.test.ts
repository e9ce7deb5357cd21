import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLsTool } from "../src/index.ts";
import { searchProject, shutFolder } from "./search-project.ts";
import { call, tempFolder, withoutRoot } from "./tool-call.ts";

const ls = createLsTool();

test("entries are sorted without regard to case, directories marked, broken links shown", async () => {
  const cwd = tempFolder();
  mkdirSync(join(cwd, "Beta"));
  for (const name of ["alpha", "Gamma", ".hidden"]) writeFileSync(join(cwd, name), "");
  symlinkSync("Beta", join(cwd, "link"));
  symlinkSync("nowhere", join(cwd, "lost"));
  symlinkSync("self", join(cwd, "self"));
  expect((await call(ls, {}, { cwd })).text.split("\n")).toEqual([
    ".hidden",
    "alpha",
    "Beta/",
    "Gamma",
    "link/",
    "lost -> nowhere (broken link)",
    "self -> self (broken link)",
  ]);
});

test("F068 odd names are listed without ambiguity", async () => {
  const cwd = tempFolder();
  for (const name of ["a\nb", '"q"', "-rf", "\u0085"]) writeFileSync(join(cwd, name), "");
  expect((await call(ls, {}, { cwd })).text.split("\n").sort()).toEqual(['"\\"q\\""', '"\\u0085"', '"a\\nb"', "-rf"]);
});

test("F073 ignored and hidden entries are listed, and what cannot be listed is an error", async () => {
  const cwd = searchProject();
  const { text } = await call(ls, { path: "." }, { cwd });
  for (const name of [".env", ".git/", "dist/"]) expect(text.split("\n")).toContain(name);
  expect(await call(ls, { path: "--pre" }, { cwd })).toMatchObject({ isError: true });
  expect((await call(ls, { path: "--pre" }, { cwd })).text).toBe("Not a directory: --pre\nLook at a file with read.");
  expect((await call(ls, { path: "scr" }, { cwd })).text).toBe("Path not found: scr\nThe nearest that exists: src");
  shutFolder(cwd);
  const shut = await withoutRoot(cwd, () => call(ls, { path: "shut" }, { cwd }));
  expect(shut.text).toBe("Cannot read directory: shut: permission denied (EACCES)");
});

test("an empty directory says so, and the limit is told only when there is more", async () => {
  const cwd = tempFolder();
  expect((await call(ls, {}, { cwd })).text).toBe("(empty directory)");
  for (const name of ["a", "b", "c"]) writeFileSync(join(cwd, name), "");
  expect(await call(ls, { limit: 2 }, { cwd })).toMatchObject({
    text: "a\nb\n\n[2 entries limit reached. Use limit=4 for more]",
    details: { entryLimitReached: 2 },
  });
  expect((await call(ls, { limit: 3 }, { cwd })).text).toBe("a\nb\nc");
});

test("with operations of one's own, entries come from there", async () => {
  const remote = createLsTool("/remote", {
    operations: { list: async (path) => [{ name: path.slice(1), isDirectory: true }] },
  });
  expect((await call(remote, { path: "sub" }, { cwd: tempFolder() })).text).toBe("remote/sub/");
});
