import { chmod, chown, mkdir, rm, symlink, truncate } from "node:fs/promises";
import { join } from "node:path";
import { createAgent } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { SCAN_LIMITS } from "../src/file-view.ts";
import { loadIn, makePipe, planOf, project, verdicts } from "./loading.ts";

const isRoot = process.getuid?.() === 0;

test("the plan names every resource that a project would load, with kind, grade and members", async () => {
  const at = await project({
    files: {
      ".git/config": "",
      ".pi/settings.json": `{ "theme": "dark" }`,
      ".pi/extensions/a.ts": "a",
      ".pi/extensions/b/index.ts": "b",
      ".pi/extensions/b/lib/helper.ts": "h",
      ".pi/skills/s/SKILL.md": "s",
      ".pi/skills/s/run.sh": "r",
      ".pi/prompts/p.md": "p",
      ".pi/themes/t.json": "{}",
      ".pi/agents/x.md": "x",
      ".pi/SYSTEM.md": "sys",
      ".pi/APPEND_SYSTEM.md": "more",
      ".agents/skills/y/SKILL.md": "y",
      "AGENTS.md": "words",
    },
  });
  const plan = await planOf(at);
  expect(plan.items.map(({ id, grade, verdict }) => `${id} ${grade} ${verdict}`)).toEqual([
    "settings:.pi/settings.json settings held",
    "extension:.pi/extensions/a.ts executable held",
    "extension:.pi/extensions/b/index.ts executable held",
    "agent:.pi/agents/x.md executable held",
    "skill:.pi/skills/s/SKILL.md text held",
    "prompt:.pi/prompts/p.md text held",
    "theme:.pi/themes/t.json text held",
    "system-prompt:.pi/SYSTEM.md text held",
    "append-system-prompt:.pi/APPEND_SYSTEM.md text held",
    "skill:.agents/skills/y/SKILL.md text held",
    "context-file:AGENTS.md text loaded",
  ]);
  const package_ = plan.items.find(({ id }) => id.endsWith("b/index.ts"));
  expect(Object.keys(package_?.members ?? {})).toEqual([".pi/extensions/b/index.ts", ".pi/extensions/b/lib/helper.ts"]);
  expect(package_?.digest).toMatch(/^sha256-[0-9a-f]{64}$/);
  expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
});

test("the files that the scan opened are those that the plan names", async () => {
  const at = await project({
    files: {
      ".pi/extensions/a.ts": "a",
      ".pi/extensions/.gitignore": "b.ts",
      ".pi/extensions/b.ts": "ignored",
      ".pi/notes.txt": "no resource",
      "src/main.ts": "no resource",
      ".env": "no resource",
      "package.json": "{}",
    },
  });
  expect((await planOf(at)).opened).toEqual([".pi/extensions/.gitignore", ".pi/extensions/a.ts"]);
});

test("a project without resources has an empty plan, and nothing of it was opened", async () => {
  const at = await project({ files: { ".pi/other": "", "src/x.ts": "" } });
  expect(await planOf(at)).toMatchObject({ items: [], opened: [] });
});

test(".pi is the working directory's, else the boundary's; .agents/skills and context files are all up to it", async () => {
  const at = await project({
    files: {
      ".git/x": "",
      ".pi/prompts/outer.md": "",
      ".agents/skills/outer/SKILL.md": "",
      "AGENTS.md": "outer",
      "sub/AGENTS.md": "sub",
      "sub/.agents/skills/inner/SKILL.md": "",
      "own/.pi/prompts/inner.md": "",
    },
  });
  expect(Object.keys(verdicts(await planOf(at, { cwd: join(at.path, "sub") })))).toEqual([
    "prompt:.pi/prompts/outer.md",
    "skill:sub/.agents/skills/inner/SKILL.md",
    "skill:.agents/skills/outer/SKILL.md",
    "context-file:AGENTS.md",
    "context-file:sub/AGENTS.md",
  ]);
  expect(Object.keys(verdicts(await planOf(at, { cwd: join(at.path, "own") })))).toContain(
    "prompt:own/.pi/prompts/inner.md",
  );
});

test("F032: what lies beyond the boundary, above or in a repository below, is not looked at", async () => {
  const at = await project({
    files: { ".pi/prompts/a.md": "", "AGENTS.md": "", "vendor/evil/.git": "", "vendor/evil/.pi/prompts/b.md": "" },
  });
  expect(verdicts(await planOf(at, { cwd: join(at.path, "vendor", "evil") }))).toEqual({
    "prompt:.pi/prompts/b.md": "held",
  });
  expect(Object.keys(verdicts(await planOf(at)))).toEqual(["prompt:.pi/prompts/a.md", "context-file:AGENTS.md"]);
});

test.each([
  [".agents/skills/x/SKILL.md", "held"],
  [".pi/agents/x.md", "held"],
  [".pi/prompts/x.md", "held"],
  ["AGENTS.md", "loaded"],
  [".mcp.json", undefined],
  [".claude/skills/x/SKILL.md", undefined],
  ["package.json", undefined],
])("F031: a project that holds only %s has it %s, or has nothing that loads", async (path, verdict) => {
  const at = await project({ files: { [path]: "{}" } });
  const plan = await planOf(at);
  expect(plan.items.map((item) => item.verdict)).toEqual(verdict === undefined ? [] : [verdict]);
});

test("T5: links, pipes, devices and oversized files are refused with a reason, and the rest is planned", async () => {
  const at = await project({ files: { ".pi/extensions/good.ts": "", ".pi/prompts/good.md": "", "real.ts": "" } });
  const pi = (name: string) => join(at.path, ".pi", name);
  await symlink(join(at.path, "real.ts"), pi("extensions/link.ts"));
  await symlink("/nowhere", pi("extensions/dangling.ts"));
  await symlink("/etc", pi("skills"));
  await symlink("/dev/zero", pi("SYSTEM.md"));
  for (const path of [pi("settings.json"), pi("prompts/pipe.md"), join(at.path, "AGENTS.md")]) makePipe(path);
  await at.write(".pi/themes/big.json", "");
  await truncate(pi("themes/big.json"), 2 ** 32);
  expect(verdicts(await planOf(at))).toEqual({
    "settings:.pi/settings.json": "refused: is not a regular file",
    "extension:.pi/extensions/dangling.ts": "refused: is a link",
    "extension:.pi/extensions/good.ts": "held",
    "extension:.pi/extensions/link.ts": "refused: is a link",
    "skill:.pi/skills": "refused: is a link",
    "prompt:.pi/prompts/good.md": "held",
    "prompt:.pi/prompts/pipe.md": "refused: is not a regular file",
    "theme:.pi/themes/big.json": "refused: is larger than 1 MB",
    "system-prompt:.pi/SYSTEM.md": "refused: is a link",
    "context-file:AGENTS.md": "refused: is not a regular file",
  });
});

test("T5: a .pi or .agents that is a link is refused as a whole", async () => {
  const at = await project({ files: { "elsewhere/extensions/a.ts": "", "elsewhere/skills/x/SKILL.md": "" } });
  await symlink(join(at.path, "elsewhere"), join(at.path, ".pi"));
  await symlink(join(at.path, "elsewhere"), join(at.path, ".agents"));
  expect(verdicts(await planOf(at))).toEqual({
    "folder:.pi": "refused: is a link, or no folder",
    "skill:.agents": "refused: is a link, or no folder",
  });
});

test("T5: a resource that holds a link out, a pipe or too much is refused as a whole, and the culprit is named", async () => {
  const skill = (name: string) => `.pi/skills/${name}/SKILL.md`;
  const at = await project({
    files: { [skill("out")]: "", [skill("pipe")]: "", [skill("fine")]: "", [skill("deep")]: "" },
  });
  const inside = (path: string) => join(at.path, ".pi", "skills", path);
  await symlink("/etc/passwd", inside("out/data"));
  makePipe(inside("pipe/data"));
  await symlink("SKILL.md", inside("fine/again"));
  await mkdir(inside(`deep/${"d/".repeat(40)}`), { recursive: true });
  expect(verdicts(await planOf(at))).toEqual({
    [`skill:${skill("deep")}`]: "refused: is nested deeper than 32 folders",
    [`skill:${skill("fine")}`]: "held",
    [`skill:${skill("out")}`]: `refused: holds a link that leaves it: ${inside("out/data")}`,
    [`skill:${skill("pipe")}`]: `refused: holds a file that is not a regular file: ${inside("pipe/data")}`,
  });
});

test("T5: manifest and settings paths that leave the project are refused, with nothing opened outside", async () => {
  const pi = { extensions: ["../../../../outside.ts", "./ok.ts"] };
  const at = await project({
    files: {
      ".git": "",
      ".pi/extensions/p/package.json": JSON.stringify({ pi }),
      ".pi/extensions/p/ok.ts": "",
      ".pi/settings.json": JSON.stringify({
        extensions: ["../lib/x.ts", "/etc/passwd", "~/x.ts", "../../up.ts", "../linked/y.ts"],
        skills: ["../docs/skills"],
      }),
      "lib/x.ts": "",
      "real/y.ts": "",
      "docs/skills/z/SKILL.md": "",
    },
  });
  await symlink(join(at.path, "real"), join(at.path, "linked"));
  const found = verdicts(await planOf(at));
  expect(found).toMatchObject({
    "extension:.pi/extensions/p/ok.ts": "held",
    "extension:lib/x.ts": "held",
    "extension:linked/y.ts": "refused: is a link, or is reached through one",
    "extension:../up.ts": "refused: leaves the project",
    "skill:docs/skills/z/SKILL.md": "held",
  });
  const refused = Object.values(found).filter((verdict) => verdict.startsWith("refused: leaves"));
  expect(refused).toEqual([
    "refused: leaves the project",
    "refused: leaves the project",
    "refused: leaves the project",
    "refused: leaves the package",
  ]);
});

test("T5: a scan that reaches a limit refuses what is left and keeps what it has", async () => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`.pi/prompts/p${index}.md`, ""]));
  const at = await project({ files: { ".pi/extensions/a.ts": "", ".pi/skills/s/SKILL.md": "", ...many } });
  const found = verdicts(await planOf(at, { limits: { ...SCAN_LIMITS, entries: 50 } }));
  expect(found).toMatchObject({
    "extension:.pi/extensions/a.ts": "held",
    "prompt:.pi/prompts": "refused: would make the scan look at more than 50 entries",
  });
  const late = verdicts(await planOf(at, { limits: { ...SCAN_LIMITS, deadlineMs: -1 } }));
  expect(late["extension:.pi/extensions"]).toMatch(/^refused: was not reached within/);
});

test("a settings file that asks for what needs consent can do as much as code", async () => {
  const at = await project({ files: { ".pi/settings.json": `{ "theme": "dark", "shellPath": "./evil" }` } });
  expect((await planOf(at)).items[0]).toMatchObject({ kind: "settings", grade: "executable" });
});

test("a broken settings file is a resource like any other, and keeps the rest from nothing", async () => {
  const at = await project({ files: { ".pi/settings.json": "{ broken", ".pi/prompts/a.md": "" } });
  expect(verdicts(await planOf(at))).toEqual({
    "settings:.pi/settings.json": "held",
    "prompt:.pi/prompts/a.md": "held",
  });
});

test("a settings list switches off what would be found", async () => {
  const at = await project({
    files: { ".pi/settings.json": `{ "prompts": ["-b.md"] }`, ".pi/prompts/a.md": "", ".pi/prompts/b.md": "" },
  });
  expect(Object.keys(verdicts(await planOf(at)))).not.toContain("prompt:.pi/prompts/b.md");
});

test("a kind of resource that a package registered is scanned with its grade", async () => {
  const at = await project({ files: { ".pi/mcp.json": "{}", "outside.json": "{}" } });
  const agent = createAgent({
    extensions: [
      (pi) => {
        pi.register("resource-kind", "mcp", { places: ["mcp.json", "../outside.json"], grade: "executable" });
      },
    ],
  });
  await agent.ready();
  const plan = await planOf(at, { kinds: agent.registry("resource-kind") });
  expect(plan.items.map(({ id, grade }) => `${id} ${grade}`)).toEqual(["mcp:.pi/mcp.json executable"]);
  await agent.dispose();
});

test("what the person typed inside the boundary loads, what is only linked there waits", async () => {
  const at = await project({ files: { ".pi/extensions/a.ts": "", "tools/b.ts": "" } });
  const plan = await planOf(at, {
    inside: [
      { path: join(at.path, ".pi", "extensions", "a.ts"), source: "-e", isTyped: true },
      { path: join(at.path, "tools"), source: "user extensions", isTyped: false },
    ],
  });
  expect(plan.items.map(({ id, scope, verdict }) => `${id} ${scope} ${verdict}`)).toEqual([
    "extension:.pi/extensions/a.ts flag loaded",
    "extension:tools/b.ts project held",
  ]);
});

test("context files wait for trust, or are left alone, where the person wants that", async () => {
  const at = await project({ files: { "AGENTS.md": "" } });
  expect(verdicts(await planOf(at, { contextFiles: "trusted" }))).toEqual({ "context-file:AGENTS.md": "held" });
  expect(verdicts(await planOf(at, { contextFiles: "never" }))).toEqual({});
});

test("AGENTS.override.md replaces the others in its folder; a link gives way to a file", async () => {
  const at = await project({ files: { "AGENTS.override.md": "", "AGENTS.md": "", "sub/CLAUDE.md": "", ".git": "" } });
  await symlink("CLAUDE.md", join(at.path, "sub", "AGENTS.md"));
  expect(verdicts(await planOf(at, { cwd: join(at.path, "sub") }))).toEqual({
    "context-file:AGENTS.override.md": "loaded",
    "context-file:sub/CLAUDE.md": "loaded",
  });
});

test.runIf(isRoot)("F038: a context file of another user, or that everyone may write, is left out", async () => {
  const at = await project({ files: { ".git": "", "AGENTS.md": "", "sub/AGENTS.md": "", "sub/deep/AGENTS.md": "" } });
  await chown(join(at.path, "AGENTS.md"), 65534, 65534);
  await chmod(join(at.path, "sub", "AGENTS.md"), 0o666);
  await chown(join(at.path, "sub", "deep"), 65534, 65534);
  await chmod(join(at.path, "sub", "deep"), 0o777);
  expect(verdicts(await planOf(at, { cwd: join(at.path, "sub", "deep") }))).toEqual({
    "context-file:AGENTS.md": "refused: belongs to another user",
    "context-file:sub/AGENTS.md": "refused: may be written by everyone",
    "context-file:sub/deep/AGENTS.md": "refused: lies in a folder that everyone may write to",
  });
});

test("F038: the search for context files stops at the working directory where there is no repository", async () => {
  const at = await project({ files: { "AGENTS.md": "", "plain/AGENTS.md": "" } });
  expect(Object.keys(verdicts(await planOf(at, { cwd: join(at.path, "plain") })))).toEqual(["context-file:AGENTS.md"]);
  await rm(join(at.path, "plain", "AGENTS.md"));
  expect(verdicts(await planOf(at, { cwd: join(at.path, "plain") }))).toEqual({});
});

test("T5: patterns that would make others try for ever are matched at once, wherever a project writes them", async () => {
  const name = `${"a".repeat(120)}.ts`;
  const stars = `${"*a".repeat(60)}b`;
  const braces = "{a,b}".repeat(23);
  const globs = [`!${stars}`, `!${braces}`, "!{1..9999999}"];
  const pi = { extensions: ["*.ts", stars, braces, "{1..9999999}", ...globs] };
  const at = await project({
    files: {
      ".pi/settings.json": JSON.stringify({ extensions: globs }),
      ".pi/extensions/.gitignore": `${stars}\n${braces}\n`,
      [`.pi/extensions/${name}`]: "",
      ".pi/extensions/pack/package.json": JSON.stringify({ pi }),
      [`.pi/extensions/pack/${name}`]: "",
    },
  });
  expect(verdicts(await planOf(at))).toEqual({
    "settings:.pi/settings.json": "held",
    [`extension:.pi/extensions/${name}`]: "held",
    [`extension:.pi/extensions/pack/${name}`]: "held",
  });
});

test("T5: lists of 40,000 entries are refused, visibly", async () => {
  const many = (text: string) => Array.from({ length: 40_000 }, () => text);
  const at = await project({
    files: {
      ".pi/settings.json": JSON.stringify({ extensions: many("!*a"), skills: many("./x") }),
      ".pi/extensions/a.ts": "",
      ".pi/prompts/.gitignore": many("*a").join("\n"),
      ".pi/prompts/p.md": "",
    },
  });
  expect(verdicts(await planOf(at))).toEqual({
    "settings:.pi/settings.json": "held",
    "extension:.pi/extensions": "refused: has more than 200 patterns in the settings",
    "skill:.pi/settings.json": "refused: lists more than 200 paths of one kind",
    "prompt:.pi/prompts": "refused: has more than 200 patterns in .gitignore",
  });
});

test("a folder of an extension that cannot be accepted for what lies in it says how its file loads", async () => {
  const entry = ".pi/extensions/odd/dist/index.js";
  const pi = { extensions: ["dist/index.js"] };
  const at = await project({
    files: { [entry]: "export default () => {};", ".pi/extensions/odd/package.json": JSON.stringify({ pi }) },
  });
  makePipe(join(at.path, ".pi/extensions/odd/pipe"));
  const { items } = await planOf(at);
  const hint = `Take that away, or name its file: -e ./${entry}`;
  expect(items).toMatchObject([{ verdict: "refused", reason: expect.stringMatching(/^holds a file that /), hint }]);
  const typed = loadIn(at, { flags: { extensions: ["./.pi/extensions/odd"] } });
  await expect(typed).rejects.toMatchObject({ code: "extension_refused", hint });
  const { report } = await loadIn(at, { flags: { extensions: [`./${entry}`] } });
  expect(report.extensions).toMatchObject([{ state: "loaded" }]);
});

test("what an extension is developed with keeps it from nothing", async () => {
  const at = await project({
    files: {
      ".pi/extensions/big/index.ts": "export default () => {};",
      ".pi/extensions/big/node_modules/dev/a.js": "x".repeat(11 << 20),
      ".pi/extensions/big/node_modules/dev/b.js": "x".repeat(11 << 20),
    },
  });
  expect((await planOf(at)).items).toMatchObject([{ verdict: "held", uncovered: [] }]);
});

test("attack 35: what data has the host run is marked as not covered", async () => {
  const at = await project({ files: { ".pi/settings.json": `{ "shellPath": "./evil.sh" }`, ".pi/agents/x.md": "x" } });
  const { items } = await planOf(at);
  expect(items.map(({ kind, uncovered }) => [kind, uncovered])).toEqual([
    ["settings", ["programs and files that it names"]],
    ["agent", ["programs and files that it names"]],
  ]);
});
