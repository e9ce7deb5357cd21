import { existsSync } from "node:fs";
import { mkdir, rm, symlink } from "node:fs/promises";
import { devNull, userInfo } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentDirOf, belongsToProject, findBoundary, findPlaces, isInside, realPathOf } from "../src/places.ts";
import { envOf, placesOf, project } from "./loading.ts";

test("T1: the boundary is the nearest ancestor with an entry named .git, whatever that entry is", async () => {
  const at = await project({ files: { "a/b/file": "", ".git": "not a repository at all" } });
  await mkdir(join(at.path, "a", ".git"));
  expect(findBoundary(join(at.path, "a", "b"))).toBe(join(at.path, "a"));
  expect(findBoundary(at.path)).toBe(at.path);
});

test("T1: a dangling link named .git makes a boundary, since only the name counts", async () => {
  const at = await project({ files: { "a/b/file": "" } });
  await symlink("/nowhere/at/all", join(at.path, ".git"));
  expect(findBoundary(join(at.path, "a", "b"))).toBe(at.path);
});

test("T1: without a .git the working directory itself is the boundary", async () => {
  const at = await project({ files: { "a/b/file": "" } });
  expect(findBoundary(join(at.path, "a", "b"))).toBe(join(at.path, "a", "b"));
});

test("T1: the key is the real path, however the folder is reached", async () => {
  const at = await project({ files: { "real/x": "", ".git/HEAD": "" } });
  await symlink(join(at.path, "real"), join(at.home, "link"));
  for (const way of ["real/", "real/.", "real/../real", "../project/real", "../home/link"]) {
    expect(findPlaces({ cwd: join(at.path, way), env: envOf(at) })).toMatchObject({
      cwd: join(at.path, "real"),
      boundary: at.path,
    });
  }
});

test("F034: a link that points somewhere else now is another project", async () => {
  const at = await project({ files: { "a/.git": "", "b/.git": "" } });
  const link = join(at.home, "current");
  await symlink(join(at.path, "a"), link);
  const before = findBoundary(link);
  await rm(link);
  await symlink(join(at.path, "b"), link);
  expect([before, findBoundary(link)]).toEqual([join(at.path, "a"), join(at.path, "b")]);
});

test.each([
  ["/real/a", "/real/a", true],
  ["/real/a/b", "/real/a", true],
  ["/real/abc", "/real/a", false],
  ["/real", "/real/a", false],
  ["/anything", "/", true],
])("F034: paths are compared name by name: %s in %s is %s", (path, folder, inside) => {
  expect(isInside(path, folder)).toBe(inside);
});

test("F034: names that differ only in Unicode form are different places where the file system keeps them apart", async () => {
  const at = await project({ files: { "caf\u00e9/.git": "", "cafe\u0301/.git": "" } });
  expect(findBoundary(join(at.path, "caf\u00e9"))).not.toBe(findBoundary(join(at.path, "cafe\u0301")));
});

test("the agent directory is ~/.pi/agent, or what PI_CODING_AGENT_DIR names", () => {
  expect(agentDirOf({ HOME: "/home/x" })).toBe("/home/x/.pi/agent");
  expect(agentDirOf({ HOME: "/home/x", PI_CODING_AGENT_DIR: "~/elsewhere" })).toBe("/home/x/elsewhere");
  expect(agentDirOf({ HOME: "/home/x", PI_CODING_AGENT_DIR: "/abs" })).toBe("/abs");
});

test("T4: an agent directory inside the project is the project's word, not the person's", async () => {
  const at = await project({ files: { ".git": "", ".agent/settings.json": "{}" } });
  const env = { ...envOf(at), PI_CODING_AGENT_DIR: join(at.path, ".agent") };
  expect(findPlaces({ cwd: at.path, env })).toMatchObject({
    agentDir: devNull,
    foreignAgentDir: join(at.path, ".agent"),
  });
  // HOME is a variable: that it names the project makes the project nobody's home.
  expect(findPlaces({ cwd: at.path, env: { HOME: at.path } })).toMatchObject({
    agentDir: devNull,
    foreignAgentDir: join(at.path, ".pi", "agent"),
    homeSkills: undefined,
  });
});

test("T4: an agent directory that is a link into the project is the project's word too", async () => {
  const at = await project({ files: { ".git": "", "evil/settings.json": "{}" } });
  await symlink(join(at.path, "evil"), join(at.home, "agent"));
  const places = findPlaces({ cwd: at.path, env: envOf(at), agentDir: join(at.home, "agent") });
  expect(places.foreignAgentDir).toBe(join(at.path, "evil"));
});

const { homedir } = userInfo();
const isHomeInRepository = existsSync(join(findBoundary(homedir), ".git"));

test.skipIf(isHomeInRepository)("the account's own agent directory stays its own when the work is at home", () => {
  const places = findPlaces({ cwd: homedir, env: { HOME: homedir } });
  expect(places.agentDir).toBe(join(homedir, ".pi", "agent"));
  expect(belongsToProject(places, join(homedir, ".pi", "agent", "extensions"))).toBe(false);
  expect(belongsToProject(places, join(homedir, ".pi", "extensions"))).toBe(true);
});

test("what the person has linked into the project belongs to the project", async () => {
  const at = await project({ files: { ".git": "", "x.ts": "" } });
  await symlink(join(at.path, "x.ts"), join(at.agentDir, "x.ts"));
  expect(belongsToProject(placesOf(at), join(at.agentDir, "x.ts"))).toBe(true);
  expect(belongsToProject(placesOf(at), join(at.agentDir, "y.ts"))).toBe(false);
});

test("a path that does not exist is real as far as it does", async () => {
  const at = await project();
  await symlink(at.path, join(at.home, "link"));
  expect(realPathOf(join(at.home, "link", "not", "there"))).toBe(join(at.path, "not", "there"));
});

test("a working directory that is gone, or is a file, is said so", async () => {
  const at = await project({ files: { file: "" } });
  for (const name of ["gone", "file"]) {
    expect(() => findBoundary(join(at.path, name))).toThrow(expect.objectContaining({ code: "no_cwd" }));
  }
});
