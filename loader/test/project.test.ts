import { join } from "node:path";
import { createAgent } from "@pi-agent/kernel";
import { expect, onTestFinished, test } from "vitest";
import type { TempProject } from "../../test/kit/src/index.ts";
import { createImporter } from "../src/import.ts";
import { loadProject, type ProjectTarget } from "../src/project.ts";
import { createResources } from "../src/resources.ts";
import { openSettings } from "../src/settings.ts";
import { settleTrust } from "../src/trust.ts";
import { canary, marks, planOf, project, toolExtension } from "./loading.ts";

function targetOf(at: TempProject, cwd = at.path): ProjectTarget {
  const agent = createAgent();
  const importer = createImporter({ agentDir: at.agentDir, modules: () => new Map() });
  onTestFinished(async () => {
    await agent.dispose();
    importer.dispose();
  });
  const resources = createResources({ sources: ["files"] });
  return {
    cwd,
    agent,
    importer,
    resources,
    settings: openSettings({ agentDir: at.agentDir }),
    alive: new Set(),
    staying: new Set(),
  };
}

test("a grant for one project loads nothing of another", async () => {
  const at = await project({ files: { "a/.git": "", "a/.pi/extensions/x.ts": "", "b/.git": "" } });
  const grant = await settleTrust(await planOf(at, { cwd: join(at.path, "a") }), { approve: true });
  await expect(loadProject(grant, targetOf(at, join(at.path, "b")))).rejects.toMatchObject({ code: "no_grant" });
});

test("T3, attack 37: code is that which was hashed, whatever its files are now", async () => {
  const at = await project({ files: { ".pi/extensions/x/index.ts": "export { default } from './lib.ts';" } });
  await at.write(".pi/extensions/x/lib.ts", toolExtension("hashed", ""));
  await at.write(".pi/extensions/fine.ts", toolExtension("fine", ""));
  const grant = await settleTrust(await planOf(at), { approve: true });
  for (const name of ["x/index.ts", "x/lib.ts"]) await at.write(`.pi/extensions/${name}`, canary(at, "swapped"));
  const target = targetOf(at);
  await loadProject(grant, target);
  expect(marks(at)).toEqual([]);
  expect([...target.agent.registry("tool").keys()].sort()).toEqual(["fine", "hashed"]);
});

test("T3: what another resource brings is no code of one that was let load", async () => {
  const at = await project();
  await at.write(".pi/extensions/held.ts", canary(at, "held"));
  await at.write(".pi/extensions/x.ts", "export default () => import(['.', 'held.ts'].join('/'));");
  const plan = await planOf(at, {
    inside: [{ path: join(at.path, ".pi/extensions/x.ts"), source: "-e", isTyped: true }],
  });
  const [report] = await loadProject(await settleTrust(plan, {}), targetOf(at));
  expect(report).toMatchObject({ state: "failed", error: { code: "not_a_member" } });
  expect(marks(at)).toEqual([]);
});

test("settings are those that were hashed, whatever the file is now", async () => {
  const at = await project({ files: { ".pi/settings.json": `{ "theme": "hashed" }` } });
  const grant = await settleTrust(await planOf(at), { approve: true });
  await at.write(".pi/settings.json", `{ "theme": "changed" }`);
  const target = targetOf(at);
  await loadProject(grant, target);
  expect((target.settings as ReturnType<typeof openSettings>).get("theme")).toBe("hashed");
});

test("nothing granted is nothing loaded", async () => {
  const at = await project();
  await at.write(".pi/extensions/x.ts", canary(at, "x"));
  const grant = await settleTrust(await planOf(at), {});
  expect(await loadProject(grant, targetOf(at))).toEqual([]);
  expect(marks(at)).toEqual([]);
});
