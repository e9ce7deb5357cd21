import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findTarget } from "../../src/trust/target.ts";
import { item, plan } from "./planned.ts";

const project = mkdtempSync(join(tmpdir(), "pi-agent-test-"));
afterAll(() => rmSync(project, { recursive: true }));
const cwd = join(project, "src");
mkdirSync(cwd);
mkdirSync(join(project, "--approve"));
const at = (id: string) => item("executable", id, { path: join(project, id.slice(id.indexOf(":") + 1)) });
const PLAN = plan(
  [
    at("extension:.pi/extensions/a.ts"),
    at("extension:.pi/extensions/whole/index.ts"),
    at("skill:.pi/skills/review/SKILL.md"),
    at("prompt:.pi/prompts/same.md"),
    at("theme:.pi/prompts/same.md"),
  ],
  { project, cwd },
);

test.each([
  [".pi/extensions/a.ts", "extension:.pi/extensions/a.ts"],
  ["../.pi/extensions/a.ts", "extension:.pi/extensions/a.ts"],
  ["extension:.pi/extensions/a.ts", "extension:.pi/extensions/a.ts"],
  [join(project, ".pi/extensions/a.ts"), "extension:.pi/extensions/a.ts"],
  [".pi/extensions/whole", "extension:.pi/extensions/whole/index.ts"],
  [".pi/skills/review/", "skill:.pi/skills/review/SKILL.md"],
])("%s names a resource", (typed, id) => {
  expect(findTarget(PLAN, typed)).toMatchObject({ item: { id } });
});

test("a folder that no single resource fills is the folder of a project", () => {
  expect(findTarget(PLAN, ".")).toEqual({ folder: cwd });
  expect(findTarget(PLAN, "..")).toEqual({ folder: project });
});

test("attack 18: a folder with the name of a flag is a folder", () => {
  mkdirSync(join(project, "--approve", ".git"));
  expect(findTarget(PLAN, "../--approve")).toEqual({ folder: join(project, "--approve") });
});

test("a folder that is a mere part of the project is no project: an answer about it is not widened", () => {
  mkdirSync(join(project, "part", "below"), { recursive: true });
  for (const typed of ["../part", "../part/below"]) {
    expect(findTarget(PLAN, typed)).toMatchObject({ problem: { why: expect.stringContaining("the whole project") } });
  }
  expect(findTarget(PLAN, "..")).toEqual({ folder: project });
});

test("what is two things, or nothing, is told", () => {
  expect(findTarget(PLAN, ".pi/prompts/same.md")).toMatchObject({
    problem: { why: "prompt:.pi/prompts/same.md, theme:.pi/prompts/same.md" },
  });
  expect(findTarget(PLAN, "nowhere")).toMatchObject({ problem: { hint: "pi trust show lists what there is" } });
});
