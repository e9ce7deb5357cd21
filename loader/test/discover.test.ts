import { symlink } from "node:fs/promises";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { dropSwitchedOff, type FoundKind, find, findSkills } from "../src/discover.ts";
import { createOwnView, ProjectView } from "../src/file-view.ts";
import { project } from "./loading.ts";

const own = createOwnView(() => false);

async function namesOf(kind: FoundKind, folder: string, view = own): Promise<string[]> {
  const found = await find(kind, view, folder);
  return found.map(({ path, refusal }) => relative(folder, path) + (refusal ? ` (${refusal})` : ""));
}

test("extensions are the .ts and .js files of a folder, and the packages one level below", async () => {
  const at = await project({
    files: {
      "ext/a.ts": "",
      "ext/b.js": "",
      "ext/c.mjs": "",
      "ext/d.md": "",
      "ext/.hidden.ts": "",
      "ext/node_modules/x/index.ts": "",
      "ext/one/index.ts": "",
      "ext/one/index.js": "",
      "ext/two/index.js": "",
      "ext/three/deeper/index.ts": "",
      "ext/four/package.json": JSON.stringify({ pi: { extensions: ["./main.ts", "./none.ts"] } }),
      "ext/four/main.ts": "",
      "ext/four/index.ts": "",
    },
  });
  expect(await namesOf("extension", join(at.path, "ext"))).toEqual([
    "a.ts",
    "b.js",
    "four/main.ts",
    "one/index.ts",
    "two/index.js",
  ]);
});

test("a folder that is a package itself is one extension, with what it requires", async () => {
  const pi = { extensions: ["./main.ts"], requires: { sessions: "@pi-agent/sessions" } };
  const files = { "ext/package.json": JSON.stringify({ pi }), "ext/main.ts": "", "ext/other.ts": "" };
  const at = await project({ files });
  const folder = join(at.path, "ext");
  expect(await find("extension", own, folder)).toEqual([
    { path: join(folder, "main.ts"), root: folder, requires: { sessions: "@pi-agent/sessions" } },
  ]);
});

test("a manifest that names nothing that is there gives way to index.ts", async () => {
  const files = { "ext/package.json": JSON.stringify({ pi: { extensions: ["./gone.ts"] } }), "ext/index.ts": "" };
  const at = await project({ files });
  expect(await namesOf("extension", join(at.path, "ext"))).toEqual(["index.ts"]);
});

test("ignore files are honoured", async () => {
  const at = await project({
    files: {
      "ext/.gitignore": "b.ts\n",
      "ext/.fdignore": "two/\n",
      "ext/a.ts": "",
      "ext/b.ts": "",
      "ext/two/index.ts": "",
    },
  });
  expect(await namesOf("extension", join(at.path, "ext"))).toEqual(["a.ts"]);
});

test("the person's links are followed, a project's are refused", async () => {
  const at = await project({ files: { "else/index.ts": "", "else.ts": "", "ext/a.ts": "" } });
  await symlink(join(at.path, "else"), join(at.path, "ext", "folder"));
  await symlink(join(at.path, "else.ts"), join(at.path, "ext", "file.ts"));
  await symlink(join(at.path, "gone.ts"), join(at.path, "ext", "gone.ts"));
  const folder = join(at.path, "ext");
  expect(await namesOf("extension", folder)).toEqual(["a.ts", "file.ts", "folder/index.ts"]);
  expect(await namesOf("extension", folder, new ProjectView())).toEqual([
    "a.ts",
    "file.ts (is a link)",
    "folder (is a link)",
    "gone.ts (is a link)",
  ]);
});

test("a folder with SKILL.md is one skill; loose Markdown counts in skills folders and below .agents/skills", async () => {
  const at = await project({
    files: {
      "skills/one/SKILL.md": "",
      "skills/one/deeper/SKILL.md": "",
      "skills/group/two/SKILL.md": "",
      "skills/group/note.md": "",
      "skills/loose.md": "",
      "skills/.dot/SKILL.md": "",
      "skills/node_modules/x/SKILL.md": "",
      "skills/ignored/SKILL.md": "",
      "skills/.gitignore": "ignored/\n",
    },
  });
  const folder = join(at.path, "skills");
  const below = (found: { path: string }[]) => found.map(({ path }) => relative(folder, path));
  const all = ["group/note.md", "group/two/SKILL.md", "loose.md", "one/SKILL.md"];
  expect(below(await findSkills(own, folder, true))).toEqual(all);
  expect(below(await findSkills(own, folder, false))).toEqual(all.filter((name) => name !== "loose.md"));
});

test("links of the person's own that lead round in a circle end", async () => {
  const at = await project({ files: { "skills/a/one/SKILL.md": "" } });
  await symlink(join(at.path, "skills"), join(at.path, "skills", "a", "again"));
  expect(await findSkills(own, join(at.path, "skills"), true)).toHaveLength(1);
});

test("prompts, themes and agents are direct children", async () => {
  const at = await project({ files: { "p/a.md": "", "p/b.json": "", "p/deep/c.md": "" } });
  expect(await namesOf("prompt", join(at.path, "p"))).toEqual(["a.md"]);
  expect(await namesOf("agent", join(at.path, "p"))).toEqual(["a.md"]);
  expect(await namesOf("theme", join(at.path, "p"))).toEqual(["b.json"]);
});

test.each([
  ["skills/one/SKILL.md", ["-skills/one"], true],
  ["skills/one/SKILL.md", ["-one"], true],
  ["extensions/a.ts", ["!*.ts"], true],
  ["extensions/a.ts", ["!*.ts", "+a.ts"], false],
  ["extensions/a.ts", ["!*.ts", "+extensions/a.ts", "-./extensions/a.ts"], true],
  ["extensions/a.ts", ["-b.ts", "!x/**", "./c.ts"], false],
])("the settings list switches %s with %j: off is %s", (path, list, off) => {
  const found = [{ path: join("/base", path), root: "" }];
  const left = dropSwitchedOff(found, { view: own, folder: "/base/x", base: "/base", list });
  expect(left).toEqual(off ? [] : found);
});

test.each([
  ["too many", Array.from({ length: 201 }, () => "!a"), "has more than 200 patterns in the settings"],
  ["one too long", [`!${"a".repeat(201)}`], "has a pattern of more than 200 characters in the settings"],
])("a settings list that cannot be used refuses the folder: %s", (_what, list, refusal) => {
  const found = [{ path: "/base/x/a.ts", root: "" }];
  expect(dropSwitchedOff(found, { view: own, folder: "/base/x", base: "/base", list })).toEqual([
    { path: "/base/x", root: "/base/x", refusal },
  ]);
});
