import { existsSync } from "node:fs";
import { cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  findNewer,
  installAll,
  installPackage,
  listPackages,
  removePackage,
  turnResource,
  updatePackages,
} from "../../src/packages/index.ts";
import { packageHome, readTree, rootsIn } from "./home.ts";
import { startRegistry } from "./registry.ts";

const files = (text: string) => ({ "extensions/x.ts": text, "skills/s/SKILL.md": text });

test("F019, P6: update takes what was published since, shows from and to before it acts, and keeps exact pins", async () => {
  const registry = await startRegistry();
  for (const name of ["moving", "ranged", "exact"]) registry.publish({ name, version: "1.0.0", files: files("1") });
  const at = await packageHome(registry.url);
  for (const text of ["npm:moving", "npm:ranged@^1.0.0", "npm:exact@1.0.0"])
    await installPackage(at.context, text, { cwd: at.home });
  for (const name of ["moving", "exact"]) registry.publish({ name, version: "2.0.0", files: files("2") });
  registry.publish({ name: "ranged", version: "1.5.0", files: files("1.5") });
  registry.publish({ name: "ranged", version: "2.0.0", files: files("2") });
  expect(await findNewer(at.context, await listPackages(at.context))).toMatchObject([
    { wanted: "2.0.0", latest: "2.0.0" },
    { wanted: "1.5.0", latest: "2.0.0" },
    { wanted: "1.0.0", latest: "2.0.0" },
  ]);
  const expected = [
    { source: "npm:moving", from: "1.0.0", to: "2.0.0", status: "update" },
    { source: "npm:ranged@^1.0.0", from: "1.0.0", to: "1.5.0", status: "update" },
    { source: "npm:exact@1.0.0", from: "1.0.0", status: "pinned" },
  ];
  let seen: unknown;
  const no = (updates: unknown) => Promise.resolve(Boolean((seen = updates) && false));
  expect(await updatePackages(at.context, { cwd: at.home, confirm: no })).toMatchObject({ status: "declined" });
  expect(seen).toMatchObject(expected);
  expect((await listPackages(at.context)).map(({ version }) => version)).toEqual(["1.0.0", "1.0.0", "1.0.0"]);
  expect(await updatePackages(at.context, { cwd: at.home })).toMatchObject({ status: "updated", updates: expected });
  expect((await listPackages(at.context)).map(({ version }) => version)).toEqual(["2.0.0", "1.5.0", "1.0.0"]);
  expect(await updatePackages(at.context, { cwd: at.home })).toMatchObject({ status: "current" });
});

test("P6: the lock before an update is kept, and a frozen install from it goes back, byte for byte", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "a", version: "1.0.0", files: files("1") });
  const at = await packageHome(registry.url);
  const { folder } = await installPackage(at.context, "npm:a", { cwd: at.home });
  const before = await readTree(folder);
  registry.publish({ name: "a", version: "2.0.0", files: files("2") });
  await updatePackages(at.context, { cwd: at.home });
  registry.fail(/./, "reset");
  const lockFile = join(at.agentDir, "pi.lock.previous.json");
  expect(await installAll(at.context, { isFrozen: true, lockFile })).toBeDefined();
  expect(await listPackages(at.context)).toMatchObject([{ version: "1.0.0", folder }]);
  expect(await readTree(folder)).toEqual(before);
  expect(await readFile(lockFile, "utf8")).toContain("2.0.0");
});

test("P3: the same lock on an empty machine gives the same files and the same lock", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "dep", version: "1.0.0", files: files("dep") });
  registry.publish({ name: "a", version: "1.0.0", files: files("1"), manifest: { dependencies: { dep: "^1.0.0" } } });
  const [one, two] = [await packageHome(registry.url), await packageHome(registry.url)];
  const { folder } = await installPackage(one.context, "npm:a@^1", { cwd: one.home });
  // What came since does not count.
  registry.publish({ name: "dep", version: "1.1.0", files: files("newer") });
  registry.publish({ name: "a", version: "1.1.0", files: files("newer") });
  for (const name of ["settings.json", "pi.lock.json"]) await cp(join(one.agentDir, name), join(two.agentDir, name));
  const before = await readFile(join(two.agentDir, "pi.lock.json"), "utf8");
  await installAll(two.context, { isFrozen: true });
  const [installed] = await listPackages(two.context);
  expect(await readTree(installed!.folder!)).toEqual(await readTree(folder));
  expect(await readFile(join(two.agentDir, "pi.lock.json"), "utf8")).toBe(before);
});

test("P3: a frozen install refuses what settings and lock do not name alike; one that is not locks it", async () => {
  const registry = await startRegistry();
  for (const name of ["a", "b"]) registry.publish({ name, version: "1.0.0", files: files(name) });
  const at = await packageHome(registry.url);
  await installPackage(at.context, "npm:a@^1.0.0", { cwd: at.home });
  const declareAll = (packages: string[]) =>
    writeFile(join(at.agentDir, "settings.json"), JSON.stringify({ packages }));
  for (const packages of [["npm:a@^1.0.0", "npm:b"], ["npm:a@^2"], []]) {
    await declareAll(packages);
    await expect(installAll(at.context, { isFrozen: true })).rejects.toMatchObject({ code: "package_drift" });
  }
  await declareAll(["npm:a@1", "npm:b"]);
  expect(await installAll(at.context)).toMatchObject({ installed: [{ name: "b" }] });
  expect(Object.keys((await at.lock()).packages)).toEqual(["npm:a", "npm:b"]);
  expect(await installAll(at.context, { isFrozen: true })).toMatchObject({ status: "unchanged" });
});

test("P3: a file that changed, is new or is gone keeps the package from loading; pi install mends it", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "dep", version: "1.0.0", files: files("dep") });
  registry.publish({ name: "a", version: "1.0.0", files: files("1"), manifest: { dependencies: { dep: "1" } } });
  const at = await packageHome(registry.url);
  const { folder } = await installPackage(at.context, "npm:a", { cwd: at.home });
  const harm = [
    () => writeFile(join(folder, "extensions/x.ts"), "2"),
    () => writeFile(join(folder, "extensions/y.ts"), ""),
    () => rm(join(folder, "skills"), { recursive: true }),
    () => rm(join(folder, "node_modules"), { recursive: true }),
    () => writeFile(join(folder, "node_modules/dep/extensions/x.ts"), "evil"),
    () => symlink("/etc/passwd", join(folder, "extensions/link.ts")),
    () => writeFile(join(folder, "node_modules/evil.js"), ""),
  ];
  for (const each of harm) {
    await each();
    expect(await listPackages(at.context)).toMatchObject([{ state: "changed", problem: { code: "package_changed" } }]);
    expect(await installAll(at.context)).toMatchObject({ installed: [{ name: "a" }] });
    expect(await listPackages(at.context)).toMatchObject([{ state: "ok", folder }]);
  }
});

test("P3: a record that somebody wrote by hand vouches for nothing", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "a", version: "1.0.0", files: files("1") });
  const at = await packageHome(registry.url);
  const { folder } = await installPackage(at.context, "npm:a", { cwd: at.home });
  const path = join(folder, "..", "record.json");
  const record = JSON.parse(await readFile(path, "utf8"));
  await writeFile(join(folder, "extensions/x.ts"), "evil");
  const outside = [{ path: "../../../../evil.ts" }];
  for (const forged of [{ seen: [] }, { seen: record.seen.slice(0, 1) }, { seen: [["", -1, 0, 0]] }, {}]) {
    await writeFile(
      path,
      JSON.stringify({ ...record, ...forged, contents: { ...record.contents, extensions: outside } }),
    );
    expect(await listPackages(at.context)).toMatchObject([{ state: "changed" }]);
  }
});

test("P3: a package that was copied or restored is read once in full, and not again", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "a", version: "1.0.0", files: files("1") });
  const at = await packageHome(registry.url);
  const { folder } = await installPackage(at.context, "npm:a", { cwd: at.home });
  const record = join(folder, "..", "record.json");
  const before = await readFile(record, "utf8");
  await cp(folder, `${folder}-copy`, { recursive: true });
  await rm(folder, { recursive: true });
  await cp(`${folder}-copy`, folder, { recursive: true });
  await rm(`${folder}-copy`, { recursive: true });
  expect(await listPackages(at.context)).toMatchObject([{ state: "ok" }]);
  const after = await readFile(record, "utf8");
  expect(after).not.toBe(before);
  expect(await listPackages(at.context)).toMatchObject([{ state: "ok" }]);
  expect(await readFile(record, "utf8")).toBe(after);
});

test("F022, P6: remove takes settings, lock and files by any spelling; a folder of the person's own stays", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "dep", version: "1.0.0" });
  registry.publish({ name: "a", version: "1.0.0", files: files("1"), manifest: { dependencies: { dep: "1" } } });
  registry.publish({ name: "b", version: "1.0.0", files: files("1") });
  const projectDir = "project/.pi";
  const at = await packageHome(registry.url);
  const context = { ...at.context, projectDir: join(at.home, projectDir) };
  await at.write("own/extensions/x.ts", "");
  await symlink(join(at.home, "own"), join(at.home, "link"));
  for (const spelling of ["../own", join(at.home, "own"), "../own/", "../link", "../x/../own"]) {
    await installPackage(context, "./own", { cwd: at.home });
    expect(await removePackage(context, spelling, { cwd: join(at.home, "project") })).toMatchObject({
      source: "../../own",
    });
    expect(await listPackages(context)).toEqual([]);
  }
  expect(existsSync(join(at.home, "own/extensions/x.ts"))).toBe(true);
  await installPackage(context, "npm:b", { cwd: at.home });
  await installPackage(context, "npm:a", { cwd: at.home });
  await installPackage(context, "npm:a", { cwd: at.home, scope: "project" });
  expect(await removePackage(context, "a", { cwd: at.home })).toEqual({ source: "npm:a", isStillIn: "project" });
  expect(await listPackages(context)).toMatchObject([
    { name: "b", scope: "user" },
    { name: "a", scope: "project", state: "ok" },
  ]);
  expect(await rootsIn(join(at.agentDir, "packages"))).toEqual([expect.stringMatching(/^b\//)]);
  expect(Object.keys((await at.lock()).packages)).toEqual(["npm:b"]);
  await expect(removePackage(context, "npm:bb", { cwd: at.home })).rejects.toMatchObject({
    code: "package_unknown",
    hint: expect.stringContaining("Did you mean b?"),
  });
  await expect(removePackage(context, "npm:a", { cwd: at.home })).rejects.toMatchObject({ code: "package_unknown" });
});

test("P12: a package under another spelling takes the place of the first, and its filters stay", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "@s/p", version: "1.0.0", files: files("1") });
  const at = await packageHome(registry.url);
  await installPackage(at.context, "@s/p", { cwd: at.home });
  await turnResource(at.context, { identity: "npm:@s/p", list: "skills", path: "skills/s/SKILL.md", on: false });
  await installPackage(at.context, "npm:@s/p@^1", { cwd: at.home });
  expect(await at.settings()).toEqual({ packages: [{ source: "npm:@s/p@^1", skills: ["-skills/s/SKILL.md"] }] });
  expect(await listPackages(at.context)).toMatchObject([
    { resources: { extensions: [{ isOn: true }], skills: [{ isOn: false }] } },
  ]);
});

test("P6: resources are turned on and off one by one, and a package without any that is on is disabled", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "a", version: "1.0.0", files: files("1") });
  const at = await packageHome(registry.url);
  await installPackage(at.context, "npm:a", { cwd: at.home });
  const turn = (list: "extensions" | "skills", path: string, on: boolean) =>
    turnResource(at.context, { identity: "npm:a", list, path, on });
  await turn("extensions", "extensions/x.ts", false);
  await turn("skills", "skills/s/SKILL.md", false);
  expect(await listPackages(at.context)).toMatchObject([{ state: "disabled" }]);
  await turn("skills", "skills/s/SKILL.md", true);
  await turn("extensions", "extensions/x.ts", true);
  expect(await listPackages(at.context)).toMatchObject([{ state: "ok" }]);
  expect(await at.settings()).toEqual({ packages: ["npm:a"] });
  await expect(turn("extensions", "extensions/none.ts", true)).rejects.toMatchObject({ code: "package_unknown" });
});

test("P6: capabilities that a new version declares are shown before it is installed", async () => {
  const registry = await startRegistry();
  const publish = (version: string, capabilities: string[]) =>
    registry.publish({
      name: "a",
      version,
      files: files(version),
      manifest: { pi: { extensions: ["extensions/x.ts"], capabilities } },
    });
  publish("1.0.0", ["tools", "network"]);
  const at = await packageHome(registry.url);
  await installPackage(at.context, "npm:a", { cwd: at.home });
  publish("1.0.1", ["tools", "exec"]);
  const { updates } = await updatePackages(at.context, { cwd: at.home });
  expect(updates).toMatchObject([{ preview: { capabilitiesAdded: ["exec"], capabilitiesRemoved: ["network"] } }]);
});

test("other settings, comments and entries that mean nothing here are left as they are", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "a", version: "1.0.0", files: files("1") });
  const at = await packageHome(registry.url);
  await mkdir(at.agentDir, { recursive: true });
  await writeFile(
    join(at.agentDir, "settings.json"),
    '{\n  // mine\n  "theme": "dark",\n  "packages": ["o/r", 3]\n}\n',
  );
  await installPackage(at.context, "npm:a", { cwd: at.home });
  const text = await readFile(join(at.agentDir, "settings.json"), "utf8");
  expect(text).toContain("// mine");
  expect(text).toContain('"theme": "dark"');
  expect(text.replace(/\s/g, "")).toContain('["o/r",3,"npm:a"]');
  expect(await listPackages(at.context)).toMatchObject([
    { name: "a" },
    { state: "refused", source: "o/r", problem: { code: "package_source" } },
  ]);
});
