import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import type { TempProject } from "../../test/kit/src/index.ts";
import { findPlaces } from "../src/places.ts";
import { createPrograms, isBareName } from "../src/programs.ts";
import { project } from "./loading.ts";

function programsOf(at: TempProject, folders: readonly string[]) {
  const env = { PATH: folders.join(delimiter), HOME: at.home, OTHER: "kept" };
  return createPrograms(env, () => findPlaces({ cwd: at.path, env }));
}

/** Puts a program into a folder, and answers its path. */
function putProgram(folder: string, name: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, "#!/bin/sh\n", { mode: 0o755 });
  return path;
}

test("T9, attack 8: relative entries of PATH, empty ones, and those inside the project are not looked at", async () => {
  const at = await project();
  const own = putProgram(join(at.home, "bin"), "rg");
  const inside = join(at.path, "node_modules", ".bin");
  for (const folder of [at.path, inside]) putProgram(folder, "rg");
  symlinkSync(inside, join(at.home, "link"));
  const entries = [".", "", "bin", "node_modules/.bin", at.path, inside, join(at.home, "link"), join(at.home, "bin")];
  const programs = programsOf(at, entries);
  expect(programs.find("rg")).toBe(own);
  expect(programs.environment()).toEqual({ PATH: join(at.home, "bin"), HOME: at.home, OTHER: "kept" });
});

test("T9, attack 8: a link among the person's own programs that leads into the project is passed over", async () => {
  const at = await project();
  const own = putProgram(join(at.home, "second"), "git");
  mkdirSync(join(at.home, "first"));
  symlinkSync(putProgram(at.path, "git"), join(at.home, "first", "git"));
  expect(programsOf(at, [join(at.home, "first"), join(at.home, "second")]).find("git")).toBe(own);
});

test("T9: a PATH that leads into the project only is the system's, and never empty, which would be the project again", async () => {
  const at = await project();
  putProgram(at.path, "sh");
  const programs = programsOf(at, [at.path, "."]);
  expect(programs.environment().PATH).toBe("/usr/bin:/bin");
  expect(programs.find("sh")).toMatch(/^\/(usr\/)?bin\/sh$/);
});

test("what is no file, or may not be run, is no program", async () => {
  const at = await project();
  const bin = join(at.home, "bin");
  mkdirSync(join(bin, "folder"), { recursive: true });
  writeFileSync(join(bin, "text"), "", { mode: 0o644 });
  const programs = programsOf(at, [bin]);
  expect([programs.find("folder"), programs.find("text"), programs.find("absent")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("the person's own programs are found where the home itself is the place of work", async () => {
  const { homedir } = userInfo();
  const env = { PATH: `/:${join(homedir, ".")}`, HOME: homedir };
  const places = { ...findPlaces({ cwd: "/", env }), boundary: "/" };
  expect(createPrograms(env, () => places).environment().PATH).toBe(env.PATH);
});

test("a path is no name to look for", () => {
  expect(["git", "./git", "/usr/bin/git", "bin\\git"].map(isBareName)).toEqual([true, false, false, false]);
});
