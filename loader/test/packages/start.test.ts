import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { load } from "../../src/load.ts";
import type { Loaded } from "../../src/options.ts";
import { installPackage } from "../../src/packages/index.ts";
import { type PackageHome, packageHome } from "./home.ts";
import { startRegistry } from "./registry.ts";

const FILES = { "extensions/x.ts": 'export default (pi) => pi.registerCommand("there", { handler: async () => {} });' };

test.each(["403", "hang", "gone"] as const)(
  "F020, P11: a start with a registry that is %s loads what is installed, and asks nobody",
  async (what) => {
    const registry = await startRegistry();
    registry.publish({ name: "there", version: "1.0.0", files: FILES });
    const at = await packageHome(registry.url);
    await installPackage(at.context, "npm:there@^1", { cwd: at.home });
    registry.asked.length = 0;
    if (what === "gone") await at.write(".npmrc", "registry=http://127.0.0.1:9/\n");
    else registry.fail(/./, what);
    for (const offline of [false, true]) {
      const { agent, report } = await start(at, offline);
      expect(report.problems).toEqual([]);
      expect(agent.registry("command").has("there")).toBe(true);
    }
    expect(registry.asked).toEqual([]);
  },
);

test("F020, P11: a package that is missing is named with the command that installs it, and the others load", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "there", version: "1.0.0", files: FILES });
  const at = await packageHome(registry.url);
  await installPackage(at.context, "npm:there", { cwd: at.home });
  await writeFile(join(at.agentDir, "settings.json"), JSON.stringify({ packages: ["npm:gone", "npm:there"] }));
  registry.asked.length = 0;
  const { agent, report } = await start(at, true);
  expect(report.problems).toMatchObject([
    {
      code: "package_missing",
      message: expect.stringContaining("npm:gone"),
      hint: expect.stringContaining("pi install"),
    },
  ]);
  expect(agent.registry("command").has("there")).toBe(true);
  expect(registry.asked).toEqual([]);
});

test("P3: a package whose files were changed is told at a start and not loaded", async () => {
  const registry = await startRegistry();
  registry.publish({ name: "there", version: "1.0.0", files: FILES });
  const at = await packageHome(registry.url);
  const { folder } = await installPackage(at.context, "npm:there", { cwd: at.home });
  await writeFile(join(folder, "extensions/x.ts"), 'throw new Error("evil")');
  const { agent, report } = await start(at);
  expect(report.problems).toMatchObject([{ code: "package_changed" }]);
  expect(agent.registry("command").has("there")).toBe(false);
});

async function start({ home, agentDir, context }: PackageHome, offline = false): Promise<Loaded> {
  const cwd = join(home, "work");
  await mkdir(cwd, { recursive: true });
  const loaded = await load({ cwd, env: context.env, agentDir, flags: { offline } });
  onTestFinished(() => loaded.dispose().then(() => {}));
  return loaded;
}
