import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { installAll, installPackage, listPackages, updatePackages } from "../../src/packages/index.ts";
import { packageHome, readTree, rootsIn } from "./home.ts";
import { type Fault, startRegistry } from "./registry.ts";

const FILES = { "extensions/x.ts": "export default () => {}" };

const FAULTS: [fault: Fault, code: string][] = [
  ["hang", "package_unreachable"],
  ["reset", "package_unreachable"],
  ["500", "package_unreachable"],
  ["403", "package_denied"],
  ["401", "package_denied"],
  ["redirect", "package_unreachable"],
];

test.each(FAULTS)("P4: a registry that answers with %s leaves the old state and is told as %s", async (fault, code) => {
  const registry = await startRegistry();
  registry.publish({ name: "old", version: "1.0.0", files: FILES });
  registry.publish({ name: "new", version: "1.0.0", files: FILES });
  const at = await packageHome(registry.url);
  await at.write(".npmrc", `registry=${registry.url}/\nfetch-retries=0\n`);
  await installPackage(at.context, "npm:old", { cwd: at.home });
  const before = await readTree(at.agentDir);
  registry.fail(/^\/new$/, fault);
  const impatient = { ...at.context, requestTimeoutMs: 300 };
  const refused = await installPackage(impatient, "npm:new", { cwd: at.home }).catch((thrown: unknown) => thrown);
  expect(refused).toMatchObject({ code, hint: expect.any(String), message: expect.stringContaining("new") });
  expect(withoutCache(await readTree(at.agentDir))).toEqual(withoutCache(before));
  expect(await readdir(join(at.agentDir, "packages"))).toEqual(["old"]);
});

const TARBALL_FAULTS: [fault: Fault, code: string][] = [
  ["hang", "package_unreachable"],
  ["reset", "package_unreachable"],
  ["500", "package_unreachable"],
  ["stall", "package_unreachable"],
  ["truncated", "package_integrity"],
  ["wrong", "package_integrity"],
  ["redirect", "package_unreachable"],
];

test.each(TARBALL_FAULTS)(
  "P4: a tarball that comes as %s, of the package or a dependency, installs nothing",
  async (fault, code) => {
    const registry = await startRegistry();
    registry.publish({ name: "dep", version: "1.0.0" });
    registry.publish({ name: "top", version: "1.0.0", files: FILES, manifest: { dependencies: { dep: "1" } } });
    const at = await packageHome(registry.url);
    await at.write(".npmrc", `registry=${registry.url}/\nfetch-retries=0\n`);
    const impatient = { ...at.context, requestTimeoutMs: 300 };
    for (const pattern of [/top-1/, /dep-1/]) {
      registry.heal();
      registry.fail(pattern, fault);
      const refused = installPackage(impatient, "npm:top", { cwd: at.home });
      await expect(refused).rejects.toMatchObject({ code });
      expect(await readdir(join(at.agentDir, "packages"))).toEqual([]);
      await rm(join(at.agentDir, "cache"), { recursive: true, force: true });
    }
    registry.heal();
    expect(await installPackage(at.context, "npm:top", { cwd: at.home })).toMatchObject({ status: "installed" });
  },
);

test("attack 48: another content under the version that is locked is refused, frozen or not", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "same", version: "1.0.0", files: FILES });
  const at = await packageHome(registry.url);
  await installPackage(at.context, "npm:same", { cwd: at.home });
  registry.publish({ name: "same", version: "1.0.0", files: { "extensions/x.ts": "evil()" } });
  await rm(join(at.agentDir, "packages"), { recursive: true });
  await rm(join(at.agentDir, "cache"), { recursive: true });
  for (const isFrozen of [true, false]) {
    await expect(installAll(at.context, { isFrozen })).rejects.toMatchObject({ code: "package_integrity" });
  }
  expect(await rootsIn(join(at.agentDir, "packages"))).toEqual([]);
});

test("an install that is aborted ends at once and leaves the old state", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "slow", version: "1.0.0", files: FILES });
  registry.fail(/slow-1/, "stall");
  const abort = new AbortController();
  const at = await packageHome(registry.url, {
    requestTimeoutMs: 60_000,
    signal: abort.signal,
    onProgress: ({ step }) => {
      if (step === "fetching") setTimeout(() => abort.abort(), 50);
    },
  });
  await expect(installPackage(at.context, "npm:slow", { cwd: at.home })).rejects.toThrow();
  expect(await readdir(join(at.agentDir, "packages"))).toEqual([]);
});

test("P7: registry, scope and token come from the person's .npmrc; the project's and the folder's have no effect", async () => {
  const registry = await startRegistry();
  const corp = await startRegistry();
  const evil = await startRegistry();
  for (const each of [registry, evil]) each.publish({ name: "plain", version: "1.0.0", files: FILES });
  for (const each of [corp, evil]) each.publish({ name: "@corp/secret", version: "1.0.0", files: FILES });
  const at = await packageHome(registry.url);
  const host = corp.url.slice("http:".length);
  await at.write(
    ".npmrc",
    `registry=${registry.url}/\n@corp:registry=${corp.url}/\n${host}/:_authToken=\${CORP_TOKEN}\n`,
  );
  at.context.env.CORP_TOKEN = "t0p-secret";
  for (const folder of ["project/.npmrc", ".pi/agent/.npmrc", ".pi/.npmrc"]) {
    await at.write(folder, `registry=${evil.url}/\n@corp:registry=${evil.url}/\ngit=./evil\nscript-shell=./evil\n`);
  }
  await at.write("project/package.json", "{}");
  const before = process.cwd();
  process.chdir(join(at.home, "project"));
  try {
    await installPackage(at.context, "npm:@corp/secret", { cwd: join(at.home, "project") });
    await installPackage(at.context, "npm:plain", { cwd: join(at.home, "project") });
  } finally {
    process.chdir(before);
  }
  expect(evil.asked).toEqual([]);
  expect(new Set(corp.asked.map(({ token }) => token))).toEqual(new Set(["Bearer t0p-secret"]));
  expect(registry.asked.every(({ token }) => token === undefined)).toBe(true);
  expect(JSON.stringify([await at.lock(), await at.settings()])).not.toContain("t0p-secret");
});

test("P7: a token stays with its registry when that redirects to another port of the same host", async () => {
  const elsewhere = await startRegistry();
  elsewhere.publish({ name: "@corp/secret", version: "1.0.0", files: FILES });
  const corp = await startRegistry();
  corp.publish({ name: "@corp/secret", version: "1.0.0", files: FILES });
  const host = corp.url.slice("http:".length);
  const npmrc = `@corp:registry=${corp.url}/\n${host}/:_authToken=t0p-secret\n`;
  for (const pattern of [/^\/@corp\/secret$/, /\.tgz$/]) {
    const at = await packageHome(corp.url);
    await at.write(".npmrc", npmrc);
    corp.heal();
    corp.fail(pattern, "redirect", elsewhere.url);
    expect(await installPackage(at.context, "@corp/secret", { cwd: at.home })).toMatchObject({ status: "installed" });
  }
  expect(new Set(corp.asked.map(({ token }) => token))).toEqual(new Set(["Bearer t0p-secret"]));
  expect(elsewhere.asked.map(({ path, token }) => [path, token])).toEqual([
    ["/@corp/secret", undefined],
    ["/@corp/secret/-/secret-1.0.0.tgz", undefined],
    ["/@corp/secret/-/secret-1.0.0.tgz", undefined],
  ]);
});

test("P7: offline, what is in the cache is installed and what is not is named", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "dep", version: "1.0.0" });
  registry.publish({ name: "top", version: "1.0.0", files: FILES, manifest: { dependencies: { dep: "1" } } });
  const at = await packageHome(registry.url);
  const { folder } = await installPackage(at.context, "npm:top", { cwd: at.home });
  const before = await readTree(folder);
  await rm(join(at.agentDir, "packages"), { recursive: true });
  registry.fail(/./, "reset");
  const offline = { ...at.context, isOffline: true };
  expect(await listPackages(offline)).toMatchObject([{ state: "missing", problem: { code: "package_missing" } }]);
  expect(await installAll(offline, { isFrozen: true })).toMatchObject({ status: "installed" });
  expect(await readTree(folder)).toEqual(before);
  await expect(installPackage(offline, "npm:other", { cwd: at.home })).rejects.toMatchObject({
    code: "package_unreachable",
    hint: expect.stringContaining("--offline"),
  });
});

test("F020, P11: what is installed is found with a registry that hangs, refuses or is gone, and nobody is asked", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "there", version: "1.0.0", files: FILES });
  const at = await packageHome(registry.url);
  await installPackage(at.context, "npm:there", { cwd: at.home });
  await writeFile(join(at.agentDir, "settings.json"), JSON.stringify({ packages: ["npm:there", "npm:gone"] }));
  registry.asked.length = 0;
  registry.fail(/./, "hang");
  expect(await listPackages(at.context)).toMatchObject([
    { name: "there", state: "ok" },
    { name: "gone", state: "missing", problem: { hint: expect.stringContaining("pi install") } },
  ]);
  expect(registry.asked).toEqual([]);
});

test("P4: one package of several that cannot be fetched leaves all as they were; updates do what they can", async () => {
  const registry = await startRegistry();
  for (const name of ["a", "b"]) registry.publish({ name, version: "1.0.0", files: FILES });
  const at = await packageHome(registry.url);
  await at.write(".npmrc", `registry=${registry.url}/\nfetch-retries=0\n`);
  await writeFile(join(at.agentDir, "settings.json"), JSON.stringify({ packages: ["npm:a", "npm:b"] }));
  registry.fail(/b-1/, "500");
  await expect(installAll(at.context)).rejects.toMatchObject({ code: "package_unreachable" });
  expect(await rootsIn(join(at.agentDir, "packages"))).toEqual([]);
  registry.heal();
  await installAll(at.context);
  for (const name of ["a", "b"]) registry.publish({ name, version: "1.0.1", files: FILES });
  registry.fail(/b-1/, "500");
  const { updates } = await updatePackages(at.context, { cwd: at.home });
  expect(updates).toMatchObject([{ status: "update", to: "1.0.1" }, { status: "failed" }]);
  expect(await listPackages(at.context)).toMatchObject([{ version: "1.0.1" }, { version: "1.0.0" }]);
});

test("P4: a store that cannot be made is told in three parts", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "a", version: "1.0.0", files: FILES });
  const at = await packageHome(registry.url);
  await writeFile(join(at.agentDir, "packages"), "in the way");
  await expect(installPackage(at.context, "npm:a", { cwd: at.home })).rejects.toMatchObject({
    code: "package_not_saved",
    hint: expect.stringContaining("as it was"),
  });
  await rm(join(at.agentDir, "packages"));
  await mkdir(join(at.agentDir, "pi.lock.json"));
  await expect(installPackage(at.context, "npm:a", { cwd: at.home })).rejects.toMatchObject({
    code: "package_lock_broken",
  });
});

function withoutCache(tree: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(tree).filter(([path]) => !path.startsWith("cache/")));
}
