import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { tempProject } from "../src/index.ts";

test("a project has its files, an empty home of its own, and is gone after cleanup", async () => {
  const project = await tempProject({
    files: { "src/a.txt": "alpha" },
    agentFiles: { "extensions/hello.ts": "export {}" },
  });
  expect(await project.read("src/a.txt")).toBe("alpha");
  expect(await project.write("new/b.txt", "beta")).toBe(join(project.path, "new/b.txt"));
  expect(await project.read("new/b.txt")).toBe("beta");
  expect(await realpath(project.path)).toBe(project.path);
  expect(await readdir(project.home)).toEqual([".pi"]);
  expect(await project.read(join(project.agentDir, "extensions/hello.ts"))).toBe("export {}");
  await project.cleanup();
  expect(existsSync(dirname(project.path))).toBe(false);
});

test("a project with git is a repository with its files committed, whatever the account's git says", async () => {
  const project = await tempProject({ files: { "a.txt": "alpha" }, git: true });
  const status = execFileSync("git", ["status", "--porcelain"], { cwd: project.path, encoding: "utf8" });
  const branch = execFileSync("git", ["branch", "--show-current"], { cwd: project.path, encoding: "utf8" });
  expect({ status, branch }).toEqual({ status: "", branch: "main\n" });
  await project.cleanup();
});
