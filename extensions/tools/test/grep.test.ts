import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lacksRightsOfOthers } from "@pi-agent/testing/house";
import { expect, onTestFinished, test } from "vitest";
import { createGrepTool } from "../src/index.ts";
import { searchProject, shutFolder } from "./search-project.ts";
import { call, makePipe, tempFolder, withoutRoot } from "./tool-call.ts";

const grep = createGrepTool();

test("matches come with path and line, hidden files too, without .git and what is ignored", async () => {
  const { text } = await call(grep, { pattern: "needle" }, { cwd: searchProject() });
  expect(text.split("\n")).toEqual([
    "--pre:1: needle",
    ".github/ci.yml:1: needle",
    '"a\\nb":1: needle',
    "app/(auth)/page.tsx:1: needle",
    "logs/keep.log:1: needle",
    "src/deep/[x].ts:1: needle",
    "src/main.ts:2: needle two",
  ]);
});

test("case, plain text, glob and context do what they say", async () => {
  const cwd = searchProject();
  const texts = async (args: object) => (await call(grep, { pattern: "needle", ...args }, { cwd })).text;
  expect(await texts({ ignoreCase: true, glob: "./src/*.ts" })).toBe(
    "src/main.ts:2: needle two\nsrc/main.ts:4: Needle four",
  );
  expect(await texts({ pattern: "needle tw.", literal: true })).toMatch(/^No matches found/);
  expect(await texts({ path: "src/main.ts", context: 1 })).toBe(
    "main.ts-1- one\nmain.ts:2: needle two\nmain.ts-3- three",
  );
});

test("the limit is told only when there is more, with the context of the last match", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "f"), "a\nx 1\nb\nx 2\nc\n");
  const cut = await call(grep, { pattern: "x", limit: 1, context: 1 }, { cwd });
  expect(cut.text).toBe(
    "f-1- a\nf:2: x 1\nf-3- b\n\n[1 matches limit reached. Use limit=2 for more, or refine pattern]",
  );
  expect(cut.details).toEqual({ matchLimitReached: 1 });
  expect((await call(grep, { pattern: "x", limit: 2 }, { cwd })).text).toBe("f:2: x 1\nf:4: x 2");
});

test("long lines are cut and long results end, and both are said", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "f"), `${"x".repeat(499)}\u{1f600}\n`.repeat(300));
  const { text, details } = await call(grep, { pattern: "x", limit: 300 }, { cwd });
  expect(text.split("\n")[0]).toBe(`f:1: ${"x".repeat(499)}... [truncated]`);
  expect(text).toMatch(
    /\[Some lines truncated to 500 chars\. Use read tool to see full lines\. 50\.0KB limit reached\]$/,
  );
  expect(details).toMatchObject({ linesTruncated: true, truncation: { truncatedBy: "bytes" } });
});

test("F067 nothing that the model gives is taken for an option, and no configuration is read", async () => {
  const cwd = searchProject();
  const marker = join(cwd, "marker");
  const program = join(cwd, "p.sh");
  writeFileSync(program, `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
  writeFileSync(join(cwd, ".ripgreprc"), `--pre=${program}\n`);
  writeFileSync(join(cwd, "words"), "--files -e -- - --pre=x -f/etc/passwd\n");
  process.env.RIPGREP_CONFIG_PATH = join(cwd, ".ripgreprc");
  onTestFinished(() => {
    delete process.env.RIPGREP_CONFIG_PATH;
  });
  for (const pattern of ["--files", "-e", "--", "-", "--pre=x", "-f/etc/passwd"]) {
    expect((await call(grep, { pattern, glob: "words" }, { cwd })).text).toMatch(/^words:1: /);
  }
  await call(grep, { pattern: `--pre=${program}` }, { cwd });
  await call(grep, { pattern: "needle", glob: `--pre=${program}` }, { cwd });
  expect((await call(grep, { pattern: "needle", path: "--pre" }, { cwd })).text).toBe("--pre:1: needle");
  expect((await call(grep, { pattern: "needle", path: `--pre=${program}` }, { cwd })).text).toContain("Path not found");
  expect(existsSync(marker)).toBe(false);
});

test("F073 a named folder is searched although it is ignored, and that is said", async () => {
  const { text } = await call(grep, { pattern: "needle", path: "dist" }, { cwd: searchProject() });
  expect(text).toBe("a.js:1: needle\n\n[.gitignore leaves out dist; it was searched all the same]");
});

test("F073 nothing found says what was not searched", async () => {
  const { text, isError } = await call(grep, { pattern: "absent" }, { cwd: searchProject() });
  expect(isError).toBe(false);
  expect(text).toMatch(/^No matches found\n\(\.git and what \.gitignore leaves out were not searched/);
});

test("F073 what could not be searched is told, and is an error when nothing was found", async ({ skip }) => {
  const lack = lacksRightsOfOthers((await import("@vscode/ripgrep")).rgPath);
  if (lack) skip(lack);
  const cwd = tempFolder();
  shutFolder(cwd);
  const none = await withoutRoot(cwd, () => call(grep, { pattern: "needle" }, { cwd }));
  expect(none.isError).toBe(true);
  expect(none.text).toMatch(/shut: Permission denied/);
  writeFileSync(join(cwd, "open"), "needle\n");
  const some = await withoutRoot(cwd, () => call(grep, { pattern: "needle" }, { cwd }));
  expect(some.text).toMatch(/^open:1: needle\n\n\[Not everything could be searched: .*shut/);
});

test("F073 a wrong pattern, a wrong glob and a missing path are errors that help", async () => {
  const cwd = searchProject();
  const errors = [{ pattern: "(" }, { pattern: "a", glob: "[" }, { pattern: "a", path: "scr" }];
  const texts = await Promise.all(errors.map((args) => call(grep, args, { cwd })));
  expect(texts.map(({ isError }) => isError)).toEqual([true, true, true]);
  expect(texts[0]!.text).toContain("With literal: true the pattern is plain text.");
  expect(texts[1]!.text).toContain("error parsing glob");
  expect(texts[2]!.text).toContain("The nearest that exists: src");
});

test("a pipe is refused and never waited for", async () => {
  const cwd = tempFolder();
  makePipe(join(cwd, "pipe"));
  expect((await call(grep, { pattern: "a", path: "pipe" }, { cwd })).text).toBe("pipe is a named pipe, not a file.");
});

test("rules of the repository above a folder hold in it, and those above the repository do not", async () => {
  const outer = tempFolder();
  const repository = join(outer, "repo");
  mkdirSync(join(repository, ".git"), { recursive: true });
  mkdirSync(join(repository, "sub"));
  writeFileSync(join(outer, ".gitignore"), "*\n");
  writeFileSync(join(repository, ".gitignore"), "*.tmp\n");
  for (const name of ["a.tmp", "a.txt"]) writeFileSync(join(repository, "sub", name), "needle\n");
  expect((await call(grep, { pattern: "needle", path: "sub" }, { cwd: repository })).text).toBe("a.txt:1: needle");
});

test("an abort ends the search", async () => {
  const controller = new AbortController();
  const searching = call(grep, { pattern: "needle" }, { cwd: "/usr", signal: controller.signal });
  controller.abort();
  expect(await searching).toMatchObject({ isError: true, text: "Operation aborted" });
});
