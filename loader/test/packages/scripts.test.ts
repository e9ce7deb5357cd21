import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { installAll, installPackage, listPackages, updatePackages } from "../../src/packages/index.ts";
import { temporaryFolder } from "./folders.ts";
import { packageHome, rootsIn } from "./home.ts";
import { startRegistry, type TestRegistry } from "./registry.ts";

const FILES = { "extensions/x.ts": "" };

async function publishScripted(registry: TestRegistry, version = "1.0.0"): Promise<string> {
  const marks = await temporaryFolder();
  const mark = (name: string) => `node -e "fs.writeFileSync('${marks}/${name}', JSON.stringify(process.env))"`;
  registry.publish({
    name: "inner",
    version,
    manifest: { scripts: { preinstall: mark("inner") }, bin: { "inner-tool": "t.js" } },
    files: { "t.js": "console.log(1)" },
  });
  registry.publish({
    name: "outer",
    version,
    files: FILES,
    manifest: {
      dependencies: { inner: version },
      scripts: { postinstall: `${mark("outer")} && inner-tool > built.txt`, prepare: mark("prepare") },
    },
  });
  return marks;
}

test("F017, P1: no script runs unasked, of the package or of what it needs, and the preview names both", async () => {
  const registry = await startRegistry();
  const marks = await publishScripted(registry);
  const at = await packageHome(registry.url);
  const { preview } = await installPackage(at.context, "npm:outer", { cwd: at.home });
  expect(preview?.scripts).toMatchObject([
    { name: "inner", isAllowed: false },
    { name: "outer", isAllowed: false },
  ]);
  expect(await rootsOf(marks)).toEqual([]);
});

test("F017, P1: scripts run for a package that is allowed by name, without the person's keys, and that is remembered", async () => {
  const registry = await startRegistry();
  const marks = await publishScripted(registry);
  const at = await packageHome(registry.url);
  at.context.env.ANTHROPIC_API_KEY = "sk-secret";
  const running: string[] = [];
  const context = {
    ...at.context,
    onProgress: ({ step, what }: { step: string; what: string }) => void (step === "running" && running.push(what)),
  };
  const { folder } = await installPackage(context, "npm:outer", { cwd: at.home, allowScripts: ["outer"] });
  expect(await readFile(join(folder, "built.txt"), "utf8")).toBe("1\n");
  expect(await rootsOf(marks)).toEqual(["outer"]);
  const env = JSON.parse(await readFile(join(marks, "outer"), "utf8"));
  expect(env).toMatchObject({
    npm_lifecycle_event: "postinstall",
    npm_package_name: "outer",
    npm_package_version: "1.0.0",
  });
  expect(JSON.stringify(env)).not.toContain("sk-secret");
  expect(running).toEqual([expect.stringContaining("outer postinstall")]);
  expect((await at.lock()).packages["npm:outer"]).toMatchObject({ scripts: ["outer"] });
  expect(await listPackages(at.context)).toMatchObject([{ state: "ok" }]);
  const next = await publishScripted(registry, "1.1.0");
  await updatePackages(at.context, { cwd: at.home });
  expect(await rootsOf(next)).toEqual(["outer"]);
  expect(await listPackages(at.context)).toMatchObject([{ state: "ok", version: "1.1.0" }]);
});

test("P4: a script that fails installs nothing and is told with what it said", async () => {
  const registry = await startRegistry();
  registry.publish({
    name: "broken",
    version: "1.0.0",
    files: FILES,
    manifest: { scripts: { install: "echo no compiler >&2; exit 3" } },
  });
  const at = await packageHome(registry.url);
  const refused = installPackage(at.context, "npm:broken", { cwd: at.home, allowScripts: ["broken"] });
  await expect(refused).rejects.toMatchObject({
    code: "package_script",
    message: expect.stringContaining("no compiler"),
  });
  expect(await rootsIn(join(at.agentDir, "packages"))).toEqual([]);
  expect(existsSync(join(at.agentDir, "settings.json"))).toBe(false);
});

test("P1: scripts that a project's lock file allows run only when the person says so too", async () => {
  const registry = await startRegistry();
  const marks = await publishScripted(registry);
  const at = await packageHome(registry.url);
  const context = { ...at.context, projectDir: join(at.home, "project", ".pi") };
  await installPackage(context, "npm:outer", { cwd: at.home, scope: "project", allowScripts: ["outer"] });
  await rm(join(at.agentDir, "project-packages"), { recursive: true });
  await rm(join(marks, "outer"));
  await expect(installAll(context, { scope: "project", isFrozen: true })).rejects.toMatchObject({
    code: "package_script",
  });
  await expect(installPackage(context, "npm:outer", { cwd: at.home, scope: "project" })).rejects.toMatchObject({
    code: "package_script",
  });
  expect(await rootsOf(marks)).toEqual([]);
  await installAll(context, { scope: "project", isFrozen: true, allowScripts: ["outer"] });
  expect(await rootsOf(marks)).toEqual(["outer"]);
  // What is there already runs nothing, and is in nobody's way.
  expect(await installAll(context, { scope: "project" })).toMatchObject({ status: "unchanged" });
});

test("P1: scripts of what is locked without them run once they are allowed", async () => {
  const registry = await startRegistry();
  const marks = await publishScripted(registry);
  const at = await packageHome(registry.url);
  await installPackage(at.context, "npm:outer", { cwd: at.home });
  expect(await rootsOf(marks)).toEqual([]);
  expect(await installAll(at.context, { allowScripts: ["outer", "nobody"] })).toMatchObject({ status: "installed" });
  expect(await rootsOf(marks)).toEqual(["outer"]);
  expect((await at.lock()).packages["npm:outer"]).toMatchObject({ scripts: ["outer"] });
});

async function rootsOf(folder: string): Promise<string[]> {
  const { readdir } = await import("node:fs/promises");
  return (await readdir(folder)).sort();
}
