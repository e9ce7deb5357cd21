import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { installAll, installPackage, listPackages, mergeInstalled, wordPreview } from "../../src/packages/index.ts";
import { temporaryFolder } from "./folders.ts";
import { type PackageHome, packageHome, readTree, rootsIn } from "./home.ts";
import { startRegistry } from "./registry.ts";
import { type Entry, packEntries } from "./tarballs.ts";

const EXTENSION = { "extensions/hello.ts": "export default () => {}", "skills/x/SKILL.md": "---\nname: x\n---\n" };

test("P1: a package is installed from a registry, locked, declared and found again", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "@corp/hello", version: "1.0.0", files: EXTENSION });
  const at = await packageHome(registry.url);
  const outcome = await installPackage(at.context, "npm:@corp/hello@^1", { cwd: at.home });
  expect(outcome).toMatchObject({ status: "installed", name: "@corp/hello", version: "1.0.0" });
  expect(await readFile(join(outcome.folder, "extensions/hello.ts"), "utf8")).toBe("export default () => {}");
  expect(await at.settings()).toEqual({ packages: ["npm:@corp/hello@^1"] });
  expect((await at.lock()).packages["npm:@corp/hello"]).toMatchObject({
    source: "npm:@corp/hello@^1",
    version: "1.0.0",
    integrity: expect.stringMatching(/^sha512-/),
  });
  expect(await listPackages(at.context)).toMatchObject([
    {
      name: "@corp/hello",
      version: "1.0.0",
      state: "ok",
      resources: { extensions: [{ path: "extensions/hello.ts", isOn: true }] },
    },
  ]);
});

test("P1: dependencies are installed below the package and locked; a second install changes nothing", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "deep", version: "2.0.0", files: { "index.js": "module.exports = 2" } });
  registry.publish({ name: "deep", version: "1.0.0", files: { "index.js": "module.exports = 1" }, tag: "old" });
  registry.publish({ name: "mid", version: "1.0.0", manifest: { dependencies: { deep: "^1.0.0" } } });
  const manifest = { dependencies: { mid: "1", deep: "2" }, pi: { extensions: ["./x.ts"] } };
  registry.publish({ name: "top", version: "1.0.0", manifest, files: { "x.ts": "" } });
  const at = await packageHome(registry.url);
  const { folder } = await installPackage(at.context, "npm:top", { cwd: at.home });
  const read = (path: string) => readFile(join(folder, path), "utf8");
  expect(await read("node_modules/deep/index.js")).toContain("2");
  expect(await read("node_modules/mid/node_modules/deep/index.js")).toContain("1");
  expect(Object.keys((await at.lock()).packages["npm:top"]!.dependencies as object)).toEqual([
    "node_modules/deep",
    "node_modules/mid",
    "node_modules/mid/node_modules/deep",
  ]);
  const before = JSON.stringify(await at.lock());
  expect(await installPackage(at.context, "npm:top", { cwd: at.home })).toMatchObject({ status: "unchanged", folder });
  expect(JSON.stringify(await at.lock())).toBe(before);
});

test("P2: peers of the host are not installed, others are; a host package that comes along is reported", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "zod", version: "3.0.0" });
  registry.publish({ name: "@earendil-works/pi-ai", version: "9.0.0" });
  registry.publish({ name: "typebox", version: "9.0.0" });
  const manifest = {
    peerDependencies: { "@pi-agent/kernel": "^0.1.0", "@earendil-works/pi-tui": "*", typebox: "*", zod: "3" },
    dependencies: { "@earendil-works/pi-ai": "*" },
    pi: { extensions: ["x.ts"] },
  };
  registry.publish({ name: "peers", version: "1.0.0", manifest, files: { "x.ts": "" } });
  const at = await packageHome(registry.url);
  const { folder, preview } = await installPackage(at.context, "npm:peers", { cwd: at.home });
  expect(await readdir(join(folder, "node_modules"))).toEqual(["zod"]);
  expect(preview).toMatchObject({
    bundledHosts: ["@earendil-works/pi-ai"],
    missingHosts: ["@earendil-works/pi-ai", "@earendil-works/pi-tui"],
  });
  // Pi cannot load what needs our kernel, so it is not declared where Pi looks.
  expect(await at.settings()).toEqual({ piAgent: { packages: ["npm:peers"] } });
  expect(await listPackages(at.context)).toMatchObject([
    { missingHosts: ["@earendil-works/pi-ai", "@earendil-works/pi-tui"] },
  ]);
});

test("P12: a package that is made for another kernel is refused at install and, when the host changed, at load", async () => {
  const registry = await startRegistry();
  const manifest = { peerDependencies: { "@pi-agent/kernel": "^0.1.0" } };
  registry.publish({ name: "fits", version: "1.0.0", manifest, files: EXTENSION });
  const at = await packageHome(registry.url);
  const later = { ...at.context, hostVersions: { "@pi-agent/kernel": "2.0.0" } };
  await expect(installPackage(later, "npm:fits", { cwd: at.home })).rejects.toMatchObject({ code: "package_host" });
  expect(await rootsIn(join(at.agentDir, "packages"))).toEqual([]);
  await installPackage(at.context, "npm:fits", { cwd: at.home });
  expect(await listPackages(later)).toMatchObject([{ state: "refused", problem: { code: "package_host" } }]);
  expect(await listPackages(at.context)).toMatchObject([{ state: "ok" }]);
});

test("P5: before anything is installed the person sees what it is; a no leaves nothing", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "dep", version: "1.0.0", manifest: { scripts: { postinstall: "node build.js" } } });
  const manifest = { dependencies: { dep: "1" }, pi: { extensions: ["x.ts"], skills: ["s"], capabilities: ["exec"] } };
  const files = { "x.ts": "", "s/one/SKILL.md": "" };
  registry.publish({
    name: "shown",
    version: "1.2.3",
    manifest,
    files,
    publisher: "mallory",
    publishedAt: "2026-01-02T03:04:05.000Z",
  });
  const at = await packageHome(registry.url);
  const seen: string[] = [];
  const confirm = (preview: Parameters<typeof wordPreview>[0]) => {
    seen.push(...wordPreview(preview));
    return Promise.resolve(false);
  };
  expect(await installPackage(at.context, "npm:shown", { cwd: at.home, confirm })).toMatchObject({
    status: "declined",
  });
  const text = seen.join("\n");
  for (const part of [
    "shown 1.2.3",
    "mallory",
    "2026-01-02",
    "x.ts",
    "run code",
    "s/one/SKILL.md",
    "exec",
    "dep wants to run postinstall: node build.js",
  ]) {
    expect(text).toContain(part);
  }
  expect(await rootsIn(join(at.agentDir, "packages"))).toEqual([]);
  expect(existsSync(join(at.agentDir, "settings.json"))).toBe(false);
  expect(existsSync(join(at.agentDir, "pi.lock.json"))).toBe(false);
});

test("P5: what the registry does not tell is unknown, and names that could hide text are spelled out", async () => {
  const registry = await startRegistry();
  registry.publish({
    name: "quiet",
    version: "1.0.0",
    manifest: { pi: { extensions: ["x.ts"], capabilities: ["a\u202eb"] } },
    files: { "x.ts": "" },
  });
  const at = await packageHome(registry.url);
  const { preview } = await installPackage(at.context, "npm:quiet", { cwd: at.home });
  const lines = wordPreview(preview!);
  expect(lines.filter((line) => /publisher|published/.test(line)).every((line) => line.includes("unknown"))).toBe(true);
  expect(lines.join("\n")).not.toContain("\u202e");
});

test("P5: a version that is younger than the person wants is refused, and so is one without a date", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "young", version: "1.0.0", files: EXTENSION, publishedAt: new Date().toISOString() });
  registry.publish({ name: "undated", version: "1.0.0", files: EXTENSION });
  registry.publish({ name: "old", version: "1.0.0", files: EXTENSION, publishedAt: "2020-01-01T00:00:00.000Z" });
  const at = await packageHome(registry.url, { minimumReleaseAgeMs: 86_400_000 });
  const install = (name: string) => installPackage(at.context, `npm:${name}`, { cwd: at.home });
  await expect(install("young")).rejects.toMatchObject({
    code: "package_too_young",
    message: expect.stringContaining("24 hours"),
  });
  await expect(install("undated")).rejects.toMatchObject({ code: "package_too_young" });
  expect(await install("old")).toMatchObject({ status: "installed" });
});

const NAMES = ["", ".", "..", "../evil", "/abs", "a/b/c", "con", "nul", "a\u0000b", "Upper", "-x", "node_modules"];

test.each(NAMES)("F016: a tarball whose package is named %j is refused, and the store is left alone", async (name) => {
  const at = await packageHome();
  const tarball = packEntries([
    { path: "package/package.json", content: JSON.stringify({ name }) },
    { path: "package/extensions/x.ts", content: "" },
  ]);
  const path = join(at.home, "x.tgz");
  await writeFile(path, tarball);
  await expect(installPackage(at.context, path, { cwd: at.home })).rejects.toMatchObject({ code: "package_unsafe" });
  expect(await rootsIn(join(at.agentDir, "packages"))).toEqual([]);
  expect(existsSync(join(at.agentDir, "evil"))).toBe(false);
});

test.each(["../../outside.ts", "/etc/passwd", "file:///etc/passwd"])(
  "F016: a manifest that names %s as its own is refused",
  async (entry) => {
    const registry = await startRegistry();
    registry.publish({ name: "outside", version: "1.0.0", manifest: { pi: { extensions: [entry] } } });
    const at = await packageHome(registry.url);
    await expect(installPackage(at.context, "npm:outside", { cwd: at.home })).rejects.toMatchObject({
      code: "package_unsafe",
    });
    expect(await rootsIn(join(at.agentDir, "packages"))).toEqual([]);
  },
);

const HOSTILE: Record<string, Entry[]> = {
  absolute: [{ path: "/tmp/pi-evil", content: "x" }],
  climbing: [{ path: "package/../../../../pi-evil", content: "x" }],
  "link-out": [
    { path: "package/l", type: "2", target: "../../.." },
    { path: "package/l/pi-evil", content: "x" },
  ],
  "hard-link-out": [{ path: "package/l", type: "1", target: "/etc/passwd" }],
  device: [{ path: "package/null", type: "3" }],
  pipe: [{ path: "package/pipe", type: "6" }],
  "case-collision": [{ path: "package/Extensions/hello.ts", content: "x" }],
  "control-characters": [{ path: "package/a\u0007b\r", content: "x" }],
};

test("P8: hostile tarballs, of a package or of what it needs, write nothing anywhere, and what was installed stays", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "good", version: "1.0.0", files: EXTENSION });
  const at = await packageHome(registry.url);
  await installPackage(at.context, "npm:good", { cwd: at.home });
  const before = await treeOf(at);
  for (const [name, entries] of Object.entries(HOSTILE)) {
    const own = { path: "package/package.json", content: JSON.stringify({ name, version: "1.0.0" }) };
    const extension = { path: "package/extensions/hello.ts", content: "" };
    registry.publish({ name, version: "1.0.0", tarball: packEntries([own, extension, ...entries]) });
    const user = `uses-${name}`;
    registry.publish({ name: user, version: "1.0.0", manifest: { dependencies: { [name]: "1" } }, files: EXTENSION });
    for (const each of [name, user]) {
      await expect(installPackage(at.context, `npm:${each}`, { cwd: at.home })).rejects.toMatchObject({
        code: "package_unsafe",
        hint: expect.any(String),
      });
    }
  }
  expect(await treeOf(at)).toEqual(before);
  expect(existsSync("/tmp/pi-evil")).toBe(false);
  expect(await listPackages(at.context)).toMatchObject([{ name: "good", state: "ok" }]);
});

async function treeOf({ home }: PackageHome): Promise<Record<string, string>> {
  const tree = await readTree(home);
  return Object.fromEntries(Object.entries(tree).filter(([path]) => !path.startsWith(".pi/agent/cache/")));
}

test("attack 48: what an exotic dependency would bring is refused", async () => {
  const registry = await startRegistry();
  for (const [index, range] of [
    "git+https://127.0.0.1:9/o/r.git",
    `${registry.url}/x/-/x-1.0.0.tgz`,
    "file:../../.ssh",
  ].entries()) {
    registry.publish({
      name: `exotic-${index}`,
      version: "1.0.0",
      manifest: { dependencies: { inner: range } },
      files: EXTENSION,
    });
    const at = await packageHome(registry.url);
    const refused = installPackage(at.context, `npm:exotic-${index}`, { cwd: at.home });
    await expect(refused).rejects.toMatchObject({
      code: "package_unsafe",
      message: expect.stringContaining("no registry"),
    });
  }
});

test("P1: what a package can do without, and no registry has, is left out", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "there", version: "1.0.0" });
  const optionalDependencies = { there: "1", "for-another-machine": "1" };
  registry.publish({ name: "flexible", version: "1.0.0", manifest: { optionalDependencies }, files: EXTENSION });
  registry.publish({
    name: "strict",
    version: "1.0.0",
    manifest: { dependencies: optionalDependencies },
    files: EXTENSION,
  });
  const at = await packageHome(registry.url);
  const { folder } = await installPackage(at.context, "npm:flexible", { cwd: at.home });
  expect(await readdir(join(folder, "node_modules"))).toEqual(["there"]);
  await expect(installPackage(at.context, "npm:strict", { cwd: at.home })).rejects.toMatchObject({
    code: "package_not_found",
    message: expect.stringContaining("What strict needs"),
  });
});

test("P8: files that a package brings to the place of a dependency are refused", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "dep", version: "1.0.0", files: { "index.js": "good" } });
  const files = { ...EXTENSION, "node_modules/dep/extra.js": "evil" };
  registry.publish({ name: "sneaky", version: "1.0.0", manifest: { dependencies: { dep: "1" } }, files });
  registry.publish({
    name: "bundling",
    version: "1.0.0",
    manifest: { dependencies: { dep: "1" }, bundleDependencies: ["dep"] },
    files,
  });
  const at = await packageHome(registry.url);
  await expect(installPackage(at.context, "npm:sneaky", { cwd: at.home })).rejects.toMatchObject({
    code: "package_unsafe",
  });
  const { folder } = await installPackage(at.context, "npm:bundling", { cwd: at.home });
  expect(await readdir(join(folder, "node_modules/dep"))).toEqual(["extra.js"]);
  expect(await listPackages(at.context)).toMatchObject([{ state: "ok" }]);
});

test("P3: what a project installs is declared and locked in the project, and lies with the person", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "shared", version: "1.0.0", files: EXTENSION });
  const at = await packageHome(registry.url);
  const projectDir = join(at.home, "project", ".pi");
  const context = { ...at.context, projectDir };
  await installPackage(context, "npm:shared", { cwd: at.home });
  await installPackage(context, "npm:shared", { cwd: at.home, scope: "project" });
  expect((await readdir(projectDir)).sort()).toEqual(["pi.lock.json", "settings.json"]);
  const [store = ""] = await readdir(join(at.agentDir, "project-packages"));
  expect(await rootsIn(join(at.agentDir, "project-packages", store))).toEqual([expect.stringMatching(/^shared\//)]);
  const [own, project] = await listPackages(context);
  expect(mergeInstalled([own!], [project!])).toEqual([project]);
  const change = { ...project!, filters: { autoload: false, skills: ["-skills/x"] } };
  expect(mergeInstalled([own!], [change])).toMatchObject([
    { folder: own!.folder, resources: { extensions: [{ isOn: true }], skills: [{ isOn: false }] } },
  ]);
});

test("a single file and a folder are declared where they are, and nothing is copied", async () => {
  const at = await packageHome();
  const root = await temporaryFolder();
  await mkdir(join(root, "pkg", "prompts", "deep"), { recursive: true });
  await writeFile(join(root, "pkg", "prompts", "deep", "p.md"), "hi");
  await writeFile(join(root, "one.ts"), "export default () => {}");
  await installPackage(at.context, "./pkg", { cwd: root });
  await installPackage(at.context, join(root, "one.ts"), { cwd: root });
  const found = await listPackages(at.context);
  expect(found).toMatchObject([
    { name: "pkg", state: "ok", resources: { prompts: [{ path: "prompts/deep/p.md", isOn: true }] } },
    { name: "one.ts", state: "ok", resources: { extensions: [{ path: "one.ts", isOn: true }] } },
  ]);
  await expect(installPackage(at.context, "./none", { cwd: root })).rejects.toMatchObject({
    code: "package_not_found",
  });
  await mkdir(join(root, "empty"));
  await expect(installPackage(at.context, "./empty", { cwd: root })).rejects.toMatchObject({ code: "package_empty" });
});

test("P4: settings that cannot be read are told before anything is fetched, and what is merely locked is asked about", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "hello", version: "1.0.0", files: EXTENSION });
  const at = await packageHome(registry.url);
  await at.write(".pi/agent/settings.json", "{bad");
  await expect(installPackage(at.context, "npm:hello", { cwd: at.home })).rejects.toMatchObject({
    code: "package_settings",
  });
  expect(registry.asked).toEqual([]);
  expect(existsSync(join(at.agentDir, "pi.lock.json"))).toBe(false);
  await at.write(".pi/agent/settings.json", "{}");
  await installPackage(at.context, "npm:hello", { cwd: at.home });
  await at.write(".pi/agent/settings.json", "{}");
  const confirm = async () => false;
  expect(await installPackage(at.context, "npm:hello", { cwd: at.home, confirm })).toMatchObject({
    status: "declined",
  });
  expect(await at.settings()).toEqual({});
});

test("P4: what could not be read again from the lock is refused before anything is written", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "good", version: "1.0.0", files: EXTENSION });
  registry.publish({ name: "con", version: "1.0.0" });
  registry.publish({ name: "top", version: "1.0.0", files: EXTENSION, manifest: { dependencies: { con: "1" } } });
  const at = await packageHome(registry.url);
  await installPackage(at.context, "npm:good", { cwd: at.home });
  await writeFile(join(at.agentDir, "packages", "notes.txt"), "a file of somebody's");
  await expect(installPackage(at.context, "npm:top", { cwd: at.home })).rejects.toMatchObject({
    code: "package_unsafe",
  });
  expect(await listPackages(at.context)).toMatchObject([{ name: "good", state: "ok" }]);
});

test("P1: a lock file from elsewhere is no word about scripts", async () => {
  const registry = await startRegistry();
  const files = { ...EXTENSION, "x.js": "" };
  registry.publish({ name: "one", version: "1.0.0", files, manifest: { scripts: { postinstall: "node x.js" } } });
  const theirs = await packageHome(registry.url);
  await installPackage(theirs.context, "npm:one", { cwd: theirs.home, allowScripts: ["one"] });
  const at = await packageHome(registry.url);
  await at.write(".pi/agent/settings.json", '{ "packages": ["npm:one"] }');
  const options = { isFrozen: true, lockFile: join(theirs.agentDir, "pi.lock.json") };
  await expect(installAll(at.context, options)).rejects.toMatchObject({ code: "package_script" });
  expect(await installAll(at.context, { ...options, allowScripts: ["one"] })).toMatchObject({ status: "installed" });
});
