import { rm, symlink } from "node:fs/promises";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import type { ResourceSource } from "../src/resources.ts";
import { loadIn, project } from "./loading.ts";

test("context files are the person's, then the project's from the outermost folder to the innermost", async () => {
  const at = await project({
    files: { ".git": "", "AGENTS.md": "outer", "sub/CLAUDE.md": "inner" },
    agentFiles: { "AGENTS.md": "own" },
  });
  const { host } = await loadIn(at, { cwd: join(at.path, "sub") });
  expect(host.resources.list("context-file").map((each) => `${each.scope} ${each.text()}`)).toEqual([
    "user own",
    "project outer",
    "project inner",
  ]);
  const without = await loadIn(at, { flags: { noContextFiles: true } });
  expect(without.host.resources.list("context-file")).toEqual([]);
});

test("skills are those that were typed, then the person's from settings, folder and ~/.agents, then the project's", async () => {
  const skill = "---\nname: x\n---\n";
  const at = await project({
    files: { ".pi/skills/project/SKILL.md": skill, "typed/SKILL.md": skill },
    agentFiles: {
      "skills/own/SKILL.md": skill,
      "skills/off/SKILL.md": skill,
      "settings.json": JSON.stringify({ skills: ["~/listed", "-skills/off"] }),
    },
  });
  await at.write(join(at.home, ".agents", "skills", "shared", "SKILL.md"), skill);
  await at.write(join(at.home, ".agents", "skills", "loose.md"), skill);
  await at.write(join(at.home, "listed", "l", "SKILL.md"), skill);
  const flags = { approve: true, values: () => new Map([["skill", ["./typed"]]]) };
  const { host } = await loadIn(at, { flags });
  const root = join(at.home, "..");
  expect(host.resources.list("skill").map(({ path, scope }) => `${scope} ${relative(root, path)}`)).toEqual([
    "flag project/typed/SKILL.md",
    "user home/listed/l/SKILL.md",
    "user home/.pi/agent/skills/own/SKILL.md",
    "user home/.agents/skills/shared/SKILL.md",
    "project project/.pi/skills/project/SKILL.md",
  ]);
});

test("--no-skills leaves what was typed", async () => {
  const at = await project({ agentFiles: { "skills/own/SKILL.md": "", "typed/SKILL.md": "" } });
  const values = new Map<string, true | string[]>([
    ["no-skills", true],
    ["skill", [join(at.agentDir, "typed")]],
  ]);
  const { host } = await loadIn(at, { flags: { values: () => values } });
  expect(host.resources.list("skill").map(({ scope }) => scope)).toEqual(["flag"]);
});

test("a granted project's system prompt comes before the person's", async () => {
  const at = await project({ files: { ".pi/SYSTEM.md": "theirs" }, agentFiles: { "SYSTEM.md": "mine" } });
  const texts = async (approve: boolean) =>
    (await loadIn(at, { flags: { approve } })).host.resources.list("system-prompt").map((each) => each.text());
  expect(await texts(true)).toEqual(["theirs", "mine"]);
  expect(await texts(false)).toEqual(["mine"]);
});

test("a project's text is the one that was hashed, the person's is as it is now", async () => {
  const at = await project({ files: { ".pi/prompts/p.md": "hashed" }, agentFiles: { "prompts/o.md": "before" } });
  const { host } = await loadIn(at, { flags: { approve: true } });
  await at.write(".pi/prompts/p.md", "changed");
  await at.write(join(at.agentDir, "prompts", "o.md"), "after");
  expect(host.resources.list("prompt").map((each) => each.text())).toEqual(["after", "hashed"]);
});

test("front matter is read of skills, prompts and agents", async () => {
  const text = '---\nname: "yes"\ndescription: |\n  two\n  lines\n---\nbody';
  const at = await project({
    agentFiles: { "skills/a/SKILL.md": text, "prompts/b.md": text, "agents/c.md": text, "themes/d.json": "{}" },
  });
  const { host } = await loadIn(at);
  for (const kind of ["skill", "prompt", "agent"]) {
    expect(host.resources.list(kind)[0]?.frontmatter).toEqual({ name: "yes", description: "two\nlines\n" });
  }
  expect(host.resources.list("theme")[0]?.frontmatter).toBeUndefined();
});

test("what the person has linked into the project is left out, and said", async () => {
  const at = await project({ files: { "evil/SKILL.md": "" }, agentFiles: { "skills/x/SKILL.md": "" } });
  await symlink(join(at.path, "evil"), join(at.agentDir, "skills", "evil"));
  const { host, report } = await loadIn(at);
  expect(host.resources.list("skill")).toHaveLength(1);
  expect(report.problems).toMatchObject([{ code: "resource_refused" }]);
});

test("another source adds to the files or takes their place; what it has of a project waits for trust", async () => {
  const at = await project({ files: { "AGENTS.md": "file" } });
  const source = (scope: ResourceSource["scope"]): ResourceSource => ({
    name: `store-${scope}`,
    scope,
    list: (kind) => (kind === "context-file" ? [{ id: "one" }] : []),
    read: (id) => `${scope} ${id}`,
  });
  const texts = async (options: Parameters<typeof loadIn>[1]) =>
    (await loadIn(at, options)).host.resources.list("context-file").map((each) => each.text());
  expect(await texts({ sources: ["files", source("user")] })).toEqual(["user one", "file"]);
  expect(await texts({ sources: [source("user"), source("project")] })).toEqual(["user one"]);
  expect(await texts({ sources: [source("project")], flags: { approve: true } })).toEqual(["project one"]);
  await rm(join(at.path, "AGENTS.md"));
  expect(await texts({ sources: [source("project")], flags: { approve: true } })).toEqual(["project one"]);
});
