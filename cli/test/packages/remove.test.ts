import { readdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { EXTENSION, openBench } from "./bench.ts";

vi.setConfig({ testTimeout: 60_000 });

test("F022: the right entry in the right scope goes, the other one is told, and a folder of the person's stays", async () => {
  const { registry, pi, put, project, settings, agentDir } = await openBench();
  registry.publish({ name: "one", version: "1.0.0", files: EXTENSION });
  await put("pkg/extensions/one.ts", EXTENSION["extensions/one.ts"]);
  await symlink(join(project, "pkg"), join(project, "link"));
  await pi("install", "npm:one", "--yes");
  await pi("install", "-l", "npm:one", "--yes");
  await pi("install", "./pkg", "--yes");
  expect(await pi("uninstall", "./link/")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Removed .*\/pkg\n$/),
  });
  expect(await readFile(join(project, "pkg/extensions/one.ts"), "utf8")).toContain("export");
  expect(await pi("remove", "one")).toMatchObject({
    code: 0,
    stdout: "Removed npm:one\nThis project still has it: pi remove -l npm:one takes that away too.\n",
  });
  expect(await settings()).toMatchObject({ packages: [] });
  expect(await readdir(join(agentDir, "packages"))).not.toContain("one");
  const elsewhere = await pi("remove", "one");
  expect(elsewhere.code).toBe(1);
  expect(elsewhere.stderr).toMatch(/^error: .+\n {2}try: Write: pi remove -l npm:one\n$/);
  expect(await pi("remove", "-l", "oen")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Did you mean one?"),
  });
  expect(await pi("remove", "-l", "npm:one")).toMatchObject({ code: 0, stdout: "Removed npm:one\n" });
  expect(await pi("remove")).toMatchObject({ code: 2 });
});
