/** Packages from a real registry, end to end: publish, install, update, go back. */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  findNewer,
  installAll,
  installPackage,
  listPackages,
  type PackageContext,
  removePackage,
  updatePackages,
} from "../../loader/src/packages/index.ts";
import { readTree } from "../../loader/test/packages/home.ts";
import { startVerdaccio, type Verdaccio } from "./packages-verdaccio.ts";

const FILES = { "extensions/x.ts": "export default () => {}" };

test("P1, P6, P7: a private package with dependencies comes from a real registry, is updated, goes back and goes", {
  timeout: 60_000,
}, async () => {
  await using registry = await startVerdaccio();
  await registry.publish({ name: "plain-dep", version: "1.0.0" }, { "index.js": "module.exports = 1" });
  const manifest = { name: "@corp/tools", dependencies: { "plain-dep": "^1.0.0" } };
  await registry.publish({ ...manifest, version: "1.0.0" }, FILES);
  const context = await homeWith(registry);
  const cwd = context.home;

  const { folder, preview } = await installPackage(context, "@corp/tools", { cwd });
  expect(preview).toMatchObject({ version: "1.0.0", dependencies: 1 });
  expect(await readFile(join(folder, "node_modules/plain-dep/index.js"), "utf8")).toBe("module.exports = 1");

  await registry.publish({ ...manifest, version: "1.1.0" }, { "extensions/x.ts": "1.1" });
  expect(await findNewer(context, await listPackages(context))).toMatchObject([{ wanted: "1.1.0", latest: "1.1.0" }]);
  expect(await updatePackages(context, { cwd })).toMatchObject({ updates: [{ from: "1.0.0", to: "1.1.0" }] });
  await installAll(context, { isFrozen: true, lockFile: join(context.agentDir, "pi.lock.previous.json") });
  expect(await listPackages(context)).toMatchObject([{ version: "1.0.0", state: "ok", folder }]);

  // The same lock on an empty machine, where a project names another registry, and then without any.
  const other = await homeWith(registry);
  for (const name of ["settings.json", "pi.lock.json"])
    await cp(join(context.agentDir, name), join(other.agentDir, name));
  await writeFile(
    join(other.home, "work", ".npmrc"),
    "@corp:registry=http://127.0.0.1:9/\nregistry=http://127.0.0.1:9/\n",
  );
  for (const isOffline of [false, true]) {
    await rm(join(other.agentDir, "packages"), { recursive: true, force: true });
    await installAll({ ...other, isOffline }, { isFrozen: true });
    const [installed] = await listPackages(other, { isThorough: true });
    expect(installed).toMatchObject({ version: "1.0.0", state: "ok" });
    expect(await readTree(installed!.folder!)).toEqual(await readTree(folder));
  }
  await removePackage(context, "npm:@corp/tools", { cwd });
  expect(await listPackages(context)).toEqual([]);

  // Without the token it is not there, and the message says where a token goes.
  const stranger = await homeWith(registry, `registry=${registry.url}/\n`);
  await expect(installPackage(stranger, "@corp/tools", { cwd })).rejects.toMatchObject({
    code: expect.stringMatching(/^package_(?:denied|not_found)$/),
    hint: expect.stringContaining(".npmrc"),
  });
});

async function homeWith(registry: Verdaccio, npmrc?: string): Promise<PackageContext> {
  const home = await mkdtemp(join(tmpdir(), "pi-packages-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const agentDir = join(home, ".pi", "agent");
  for (const folder of [agentDir, join(home, "work")]) await mkdir(folder, { recursive: true });
  const host = registry.url.slice("http:".length);
  const scoped = `registry=${registry.url}/\n@corp:registry=${registry.url}/\n${host}/:_authToken=${registry.token}\n`;
  await writeFile(join(home, ".npmrc"), npmrc ?? scoped);
  const env = { PATH: process.env.PATH, HOME: home };
  return { agentDir, home, env, findProgram: () => undefined, hostVersions: {}, isLent: () => true };
}
