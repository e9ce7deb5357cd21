import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { judgePath, readIgnoreFile } from "../src/ignore-file.ts";
import { createFindTool } from "../src/index.ts";
import { call, makePipe, tempFolder } from "./tool-call.ts";

const verdict = (lines: string, path: string) => {
  const isDirectory = path.endsWith("/");
  return judgePath(readIgnoreFile(lines), isDirectory ? path.slice(0, -1) : path, isDirectory);
};

const CASES: [lines: string, ignored: string, others: string][] = [
  ["a", "a a/ x/a x/y/a", "ab x/ab"],
  ["/a", "a", "x/a"],
  ["a/", "a/ x/a/", "a x/a"],
  ["x/a", "x/a", "a y/x/a"],
  ["*.log", "b.log x/b.log .log", "b.log2"],
  ["*.log\n!keep.log", "b.log", "keep.log x/keep.log"],
  ["a?c", "abc x/a.c", "ac abbc"],
  ["[a-c]x", "ax x/bx", "dx"],
  ["[!a-c]x", "dx", "ax"],
  ["**/a", "a x/a x/y/a", "xa"],
  ["x/**", "x/a x/y/a", "x/ x"],
  ["x/**/a", "x/a x/y/a x/y/z/a", "a x/ya"],
  ["x/*/a", "x/y/a", "x/a x/y/z/a"],
  ["**", "a x/a", ""],
  ["a**b", "ab axxb x/ayb", "a/b"],
  ["{a,b}", "{a,b}", "a b"],
  ["a]", "a]", "a"],
  ["\\#a", "#a", "a"],
  ["\\!a", "!a", "a"],
  ["\\*", "*", "a"],
  ["# a", "", "a #"],
  ["a  ", "a", ""],
  ["a\r\nb\r\n", "a b", "c"],
  ["\uFEFFa", "a", ""],
  ["A", "A", "a"],
  ["[a\nb", "b", "[a a"],
  ["/", "", "a x/"],
];

const split = (paths: string) => paths.split(" ").filter(Boolean);

test.each(CASES)("F073 the rules %j leave out %j and not %j", (lines, ignored, others) => {
  expect(split(ignored).filter((path) => verdict(lines, path) !== "ignored")).toEqual([]);
  expect(split(others).filter((path) => verdict(lines, path) === "ignored")).toEqual([]);
});

test("F073 git itself says the same", () => {
  const cwd = tempFolder();
  spawnSync("git", ["init", "-q"], { cwd });
  const differences: unknown[] = [];
  for (const [lines, ignored, others] of CASES) {
    writeFileSync(join(cwd, ".gitignore"), lines);
    for (const path of [...split(ignored), ...split(others)]) {
      const isNamed = verdict(lines, path) === "ignored";
      // Git looks for folders on the disk.
      if (path.endsWith("/")) mkdirSync(join(cwd, path), { recursive: true });
      const { status } = spawnSync("git", ["check-ignore", "-q", "--no-index", "--", path.replace(/\/$/, "")], { cwd });
      if (path.endsWith("/")) spawnSync("rm", ["-rf", path], { cwd });
      if ((status === 0) !== isNamed) differences.push([lines, path, status]);
    }
  }
  expect(differences).toEqual([]);
});

test("a ? is one character, as ripgrep has it", () => {
  expect(verdict("\u{1f600}?", "\u{1f600}\u{1f601}")).toBe("ignored");
  expect(verdict("\u{1f600}?", "\u{1f600}")).toBeUndefined();
});

test("a space at the end counts behind a backslash", () => {
  expect(verdict("a\\ ", "a ")).toBe("ignored");
  expect(verdict("a\\ ", "a")).toBeUndefined();
});

test("rules that would take a matcher for ever are held against a name at once", async () => {
  const cwd = tempFolder();
  const evil = [`${"*a".repeat(200)}*b`, "[".repeat(4_000), `${"**/a/".repeat(400)}b`, "x".repeat(100_000)];
  writeFileSync(join(cwd, ".gitignore"), Array.from({ length: 10 }, () => evil.join("\n")).join("\n"));
  const name = `${"a/".repeat(60)}${"a".repeat(200)}`;
  mkdirSync(join(cwd, dirname(name)), { recursive: true });
  writeFileSync(join(cwd, name), "");
  expect((await call(createFindTool(), { pattern: "aaa*" }, { cwd })).text).toBe(name);
});

test("an ignore file that is a pipe is not waited for, and of a very long one the start counts", async () => {
  const cwd = tempFolder();
  makePipe(join(cwd, ".gitignore"));
  writeFileSync(join(cwd, ".ignore"), `first\n${"# more\n".repeat(100_000)}last\n`);
  for (const name of ["first", "last"]) writeFileSync(join(cwd, name), "");
  expect((await call(createFindTool(), { pattern: "*st" }, { cwd })).text).toBe("last");
});

test("F073 a nested file takes a folder back with all that is in it, and a folder above the search is left out with it", async () => {
  const cwd = tempFolder();
  for (const path of ["sub/build/x.js", "build/deep/y.js"]) {
    mkdirSync(join(cwd, dirname(path)), { recursive: true });
    writeFileSync(join(cwd, path), "");
  }
  mkdirSync(join(cwd, ".git"));
  writeFileSync(join(cwd, ".gitignore"), "build/\n");
  writeFileSync(join(cwd, "sub/.gitignore"), "!build/\n");
  expect((await call(createFindTool(), { pattern: "*.js" }, { cwd })).text).toBe("sub/build/x.js");
  const named = await call(createFindTool(), { pattern: "*.js", path: "build/deep" }, { cwd });
  expect(named.text).toContain("y.js\n\n[.gitignore leaves out this folder");
});
