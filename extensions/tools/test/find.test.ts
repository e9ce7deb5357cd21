import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFindTool } from "../src/index.ts";
import { searchProject, shutFolder } from "./search-project.ts";
import { call, tempFolder, withoutRoot } from "./tool-call.ts";

const find = createFindTool();
const LEFT_OUT = "\n\n[What .gitignore leaves out was not searched; name its folder as path to search there]";
const NAMED = "\n\n[.gitignore leaves out this folder; it was searched all the same]";

test.each([
  ["a name at any depth", "*.ts", "src/main.ts\nsrc/deep/[x].ts"],
  ["a path", "src/*.ts", "src/main.ts"],
  ["any depth in a path", "**/*.ts", "src/main.ts\nsrc/deep/[x].ts"],
  ["alternatives", "*.{yml,tsx}", ".github/ci.yml\napp/(auth)/page.tsx"],
  ["a pattern without capitals in both cases", "MAIN.*", "No files found matching pattern" + LEFT_OUT],
  ["a directory", "de*", "src/deep/"],
  ["directories only", "s*/", "src/"],
  ["a rule that takes another back", "*.log", "logs/keep.log"],
  ["a broken link", "brok*", "broken"],
  ["a leading ./", "./src/m*", "src/main.ts"],
  ["parentheses as they are", "app/(auth)/*", "app/(auth)/page.tsx"],
  ["hidden files", ".github/*", ".github/ci.yml"],
])("it finds %s: %s", async (_name, pattern, text) => {
  expect((await call(find, { pattern }, { cwd: searchProject() })).text).toBe(text);
});

test.each([
  ["[x].ts", "src/deep/[x].ts"],
  ["src/deep/[x].ts", "src/deep/[x].ts"],
  ["a\nb", '"a\\nb"'],
  ["--pre", "--pre"],
])("F068 a literal name is found whatever its characters mean: %s", async (pattern, text) => {
  expect((await call(find, { pattern }, { cwd: searchProject() })).text).toBe(text);
});

test("F068 what looks like an option is a name, and nothing is run", async () => {
  const cwd = searchProject();
  for (const pattern of ["--exec=touch PWN", "-x", "-exec", "-"]) {
    expect((await call(find, { pattern }, { cwd })).text).toMatch(/^No files found matching pattern/);
  }
  expect((await call(find, { pattern: "*", path: "-" }, { cwd })).text).toContain("Path not found: -");
  expect(existsSync(join(cwd, "PWN"))).toBe(false);
});

test.each([
  ["", "The pattern is empty."],
  ["../*", "leaves the directory that is searched"],
  ["**/[", "is not a valid glob"],
])("F068 the pattern %j is an error, not an empty result", async (pattern, problem) => {
  const outcome = await call(find, { pattern }, { cwd: searchProject() });
  expect(outcome.isError).toBe(true);
  expect(outcome.text).toContain(problem);
});

test.each([
  ["dist/a.js", "dist/a.js" + NAMED],
  ["dist/*.js", "dist/a.js" + NAMED],
  [".env", ".env"],
])("F073 what the pattern names is found although it is ignored: %s", async (pattern, text) => {
  expect((await call(find, { pattern }, { cwd: searchProject() })).text).toBe(text);
});

test("F073 a named folder is searched although it is ignored, and a broad search says what it left out", async () => {
  const cwd = searchProject();
  expect((await call(find, { pattern: "*.js", path: "dist" }, { cwd })).text).toBe("a.js" + NAMED);
  expect((await call(find, { pattern: "**/a.js" }, { cwd })).text).toBe("No files found matching pattern" + LEFT_OUT);
});

test("F073 a missing root, a file as root and an unreadable folder are told", async () => {
  const cwd = searchProject();
  expect((await call(find, { pattern: "*", path: "scr" }, { cwd })).text).toContain("The nearest that exists: src");
  expect(await call(find, { pattern: "*", path: "src/main.ts" }, { cwd })).toMatchObject({
    isError: true,
    text: "Not a directory: src/main.ts",
  });
  const other = tempFolder();
  shutFolder(other);
  const outcome = await withoutRoot(other, () => call(find, { pattern: "file" }, { cwd: other }));
  expect(outcome.text).toContain("Could not be read: shut/ (permission denied (EACCES))");
});

test("F073 links are not followed, so that a loop ends", async () => {
  expect((await call(find, { pattern: "loop" }, { cwd: searchProject() })).text).toBe("src/loop");
});

test("the limit is told only when there is more", async () => {
  const cwd = tempFolder();
  for (const name of ["a", "b", "c"]) writeFileSync(join(cwd, name), "");
  const cut = await call(find, { pattern: "*", limit: 2 }, { cwd });
  expect(cut.text).toBe("a\nb\n\n[2 results limit reached. Use limit=4 for more, or refine pattern]");
  expect(cut.details).toEqual({ resultLimitReached: 2 });
  expect((await call(find, { pattern: "*", limit: 3 }, { cwd })).text).toBe("a\nb\nc");
});

test("rules of the repository above a folder hold in it, and those above the repository do not", async () => {
  const outer = tempFolder();
  const repository = join(outer, "repo");
  mkdirSync(join(repository, ".git/info"), { recursive: true });
  mkdirSync(join(repository, "sub"));
  writeFileSync(join(outer, ".gitignore"), "*\n");
  writeFileSync(join(repository, ".gitignore"), "*.tmp\n");
  writeFileSync(join(repository, ".git/info/exclude"), "*.mine\n");
  for (const name of ["a.tmp", "a.mine", "a.txt"]) writeFileSync(join(repository, "sub", name), "");
  expect((await call(find, { pattern: "a.*", path: "sub" }, { cwd: repository })).text).toBe("a.txt");
});

test("an abort ends the search", async () => {
  const controller = new AbortController();
  const searching = call(find, { pattern: "absent" }, { cwd: "/usr", signal: controller.signal });
  controller.abort();
  expect(await searching).toMatchObject({ isError: true, text: "Operation aborted" });
});
