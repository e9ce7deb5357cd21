import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { TempProject } from "../../test/kit/src/index.ts";
import type { LoadMode } from "../src/options.ts";
import { installPackage, turnResource, updatePackages } from "../src/packages/index.ts";
import type { LoadPlan } from "../src/plan.ts";
import { askedWith, loadIn, project, toolExtension, verdicts } from "./loading.ts";
import { startRegistry, type TestRegistry } from "./packages/registry.ts";

/** A project and a home that know a registry with one package in two versions. */
async function withRegistry(): Promise<{ at: TempProject; registry: TestRegistry }> {
  const registry = await startRegistry();
  const at = await project({ files: { ".git/HEAD": "" } });
  await writeFile(join(at.home, ".npmrc"), `registry=${registry.url}/\n`);
  publish(registry, "1.0.0");
  return { at, registry };
}

function publish(registry: TestRegistry, version: string): void {
  const files = {
    "extensions/hello.ts": toolExtension("hello", version),
    "skills/greet/SKILL.md": "---\nname: greet\ndescription: greets\n---\nSay hello.",
  };
  registry.publish({ name: "hello", version, files });
}

async function managing(at: TempProject, more: Parameters<typeof loadIn>[1] = {}) {
  const { packages } = await loadIn(at, { isPlanOnly: true, isBare: true, ...more });
  return packages;
}

async function install(at: TempProject, source: string, scope: "user" | "project" = "user"): Promise<void> {
  const packages = await managing(at);
  await installPackage(packages.context, source, { cwd: at.path, scope });
  if (scope === "project") await packages.approveChange();
}

const tools = (loaded: Awaited<ReturnType<typeof loadIn>>) => [...loaded.agent.registry("tool").keys()];
const skills = ({ host }: Awaited<ReturnType<typeof loadIn>>) =>
  host.resources.list("skill").map(({ source }) => source);

test("P11: extensions and texts of a person's packages load without the network", async () => {
  const { at, registry } = await withRegistry();
  await install(at, "npm:hello@^1");
  registry.fail(/./, "hang");
  const asked = registry.asked.length;
  const loaded = await loadIn(at);
  expect(tools(loaded)).toEqual(["hello"]);
  expect(skills(loaded)).toEqual(["package hello"]);
  expect(loaded.report.problems).toEqual([]);
  expect(loaded.host.packages.list()).toMatchObject([{ name: "hello", version: "1.0.0", scope: "user", state: "ok" }]);
  expect(loaded.agent.registry("tool").get("hello")?.owner).toMatchObject({ scope: "package", package: "hello" });
  expect(registry.asked).toHaveLength(asked);
});

test("P3, P11: a package that is missing or changed is told and not loaded; all else is", async () => {
  const { at } = await withRegistry();
  await at.write(join(at.agentDir, "extensions/mine.ts"), toolExtension("mine", ""));
  await at.write(join(at.agentDir, "settings.json"), JSON.stringify({ packages: ["npm:gone@^1"] }));
  const missing = await loadIn(at);
  expect(tools(missing)).toEqual(["mine"]);
  expect(missing.report.problems).toMatchObject([
    { code: "package_missing", hint: expect.stringContaining("pi install") },
  ]);
  await at.write(join(at.agentDir, "settings.json"), "{}");
  await install(at, "npm:hello@^1");
  const [hello] = (await loadIn(at)).report.extensions.filter(({ owner }) => owner.name.endsWith("hello.ts"));
  await writeFile(hello!.owner.path!, toolExtension("evil", ""));
  const changed = await loadIn(at);
  expect(tools(changed)).toEqual(["mine"]);
  expect(changed.report.problems).toMatchObject([{ code: "package_changed" }]);
});

test("P6: what is turned off does not load; a reload takes in what was turned on, updated and removed", async () => {
  const { at, registry } = await withRegistry();
  await install(at, "npm:hello@^1");
  const { context } = await managing(at);
  const turn = (on: boolean) =>
    turnResource(context, { identity: "npm:hello", list: "extensions", path: "extensions/hello.ts", on });
  await turn(false);
  const loaded = await loadIn(at);
  expect(tools(loaded)).toEqual([]);
  expect(skills(loaded)).toEqual(["package hello"]);
  await turn(true);
  await loaded.host.reload();
  expect(tools(loaded)).toEqual(["hello"]);
  publish(registry, "1.1.0");
  await updatePackages(context, { cwd: at.path });
  await loaded.host.reload();
  expect(tools(loaded)).toEqual(["hello"]);
  expect(loaded.host.packages.list()).toMatchObject([{ version: "1.1.0" }]);
  await at.write(join(at.agentDir, "settings.json"), "{}");
  await loaded.host.reload();
  expect([tools(loaded), skills(loaded)]).toEqual([[], []]);
});

test("E3: packages load before the person's own folder, and give way to its names", async () => {
  const { at } = await withRegistry();
  await install(at, "npm:hello@^1");
  await at.write(join(at.agentDir, "extensions/mine.ts"), toolExtension("hello", "mine"));
  const { report, agent } = await loadIn(at);
  expect(report.extensions.map(({ owner }) => owner.name.split("/").at(-1))).toEqual(["hello.ts", "mine.ts"]);
  expect(agent.registry("tool").get("hello")?.owner.name).toMatch(/mine\.ts$/);
});

test("T2, P3: a project's packages wait for the answer; what was said holds for what is locked, and for nothing else", async () => {
  const { at, registry } = await withRegistry();
  await install(at, "npm:hello@^1", "project");
  await rm(join(at.home, ".pi", "agent", "trust.d"), { recursive: true, force: true });
  const asked = await loadIn(at);
  expect(verdicts(asked.report.plan)).toMatchObject({
    "package:npm:hello": "held",
    "settings:.pi/settings.json": "held",
  });
  expect([tools(asked), skills(asked)]).toEqual([[], []]);
  const trusted = await loadIn(at, { mode: askedWith("content") });
  expect([tools(trusted), skills(trusted)]).toEqual([["hello"], ["package hello"]]);
  expect(tools(await loadIn(at))).toEqual(["hello"]);
  // Another version is locked by somebody else.
  publish(registry, "1.1.0");
  const packages = await managing(at);
  await updatePackages(packages.context, { cwd: at.path, scope: "project" });
  const questions: LoadPlan[] = [];
  const mode: LoadMode = { ...askedWith("not-now"), askTrust: (plan) => void questions.push(plan) };
  expect(tools(await loadIn(at, { mode }))).toEqual([]);
  const changed = questions[0]?.items.filter(({ change }) => change);
  expect(changed).toMatchObject([{ change: { isNew: false, added: ["hello@1.1.0"], removed: ["hello@1.0.0"] } }]);
});

test("P3: what the person installs for a trusted project stays trusted; the rest of an untrusted one is left alone", async () => {
  const { at } = await withRegistry();
  await install(at, "npm:hello@^1", "project");
  expect(tools(await loadIn(at))).toEqual(["hello"]);
  await at.write(".pi/settings.json", JSON.stringify({ packages: ["npm:hello@^1", "npm:evil"] }));
  const { context, projectFault } = await managing(at);
  expect(context.projectDir).toBeUndefined();
  expect(projectFault).toMatchObject({ code: "project_not_trusted", hint: expect.stringContaining("pi trust") });
  expect((await managing(at, { flags: { approve: true } })).context.projectDir).toBe(join(at.path, ".pi"));
});

test("a project brings no bytes: files in its repository stand for no package", async () => {
  const { at } = await withRegistry();
  await install(at, "npm:hello@^1", "project");
  await rm(join(at.home, ".pi", "agent", "project-packages"), { recursive: true });
  await at.write(".pi/packages/hello/x/package/extensions/hello.ts", toolExtension("evil", ""));
  const loaded = await loadIn(at);
  expect(tools(loaded)).toEqual([]);
  expect(loaded.report.problems).toMatchObject([
    { code: "package_missing", hint: expect.stringContaining("pi install -l") },
  ]);
});

test("T4: a lock file of another change than the one decided about vouches for nothing", async () => {
  const { at, registry } = await withRegistry();
  await install(at, "npm:hello@^1", "project");
  publish(registry, "1.1.0");
  const packages = await managing(at);
  await updatePackages(packages.context, { cwd: at.path, scope: "project" });
  // Both versions are in the store, and the previous lock names the one that was approved.
  const loaded = await loadIn(at);
  expect(tools(loaded)).toEqual([]);
});

test("P12: a package of the person's and of the project is there once, as the project has it; and theirs comes back", async () => {
  const { at, registry } = await withRegistry();
  await install(at, "npm:hello@1.0.0");
  publish(registry, "1.1.0");
  await install(at, "npm:hello@1.1.0", "project");
  const loaded = await loadIn(at);
  const versions = () => loaded.host.packages.list().map(({ version, scope }) => `${version} ${scope}`);
  expect(versions()).toEqual(["1.1.0 project"]);
  expect(tools(loaded)).toEqual(["hello"]);
  expect(loaded.agent.registry("tool").get("hello")?.owner.scope).toBe("project");
  await loaded.trust.decide("never");
  expect(versions()).toEqual(["1.0.0 user"]);
  expect(loaded.agent.registry("tool").get("hello")?.owner.scope).toBe("package");
});

test("P12: autoload false in the project turns resources of the person's package on and off", async () => {
  const { at } = await withRegistry();
  await install(at, "npm:hello@^1");
  const delta = { source: "npm:hello@^1", autoload: false, extensions: ["-extensions/hello.ts"] };
  await at.write(".pi/settings.json", JSON.stringify({ packages: [delta] }));
  const loaded = await loadIn(at, { mode: askedWith("content") });
  expect([tools(loaded), skills(loaded)]).toEqual([[], ["package hello"]]);
});

test("a package that lies in the project is a resource like its others, wherever it is declared", async () => {
  const { at } = await withRegistry();
  await at.write("own/package.json", '{ "name": "own", "pi": { "extensions": ["./x.ts"], "skills": ["./skills"] } }');
  await at.write("own/x.ts", toolExtension("own", ""));
  await at.write("own/skills/s/SKILL.md", "---\nname: s\n---\n");
  await at.write(".pi/settings.json", JSON.stringify({ packages: ["../own"] }));
  const { report } = await loadIn(at);
  expect(verdicts(report.plan)).toMatchObject({ "extension:own/x.ts": "held", "skill:own/skills/s/SKILL.md": "held" });
  await at.write(".pi/settings.json", "{}");
  await at.write(join(at.agentDir, "settings.json"), JSON.stringify({ packages: [join(at.path, "own")] }));
  const own = await loadIn(at);
  expect(verdicts(own.report.plan)).toMatchObject({ "extension:own/x.ts": "held" });
  expect(tools(own)).toEqual([]);
});

test("options in the settings reach the extensions of a package, checked by their schema", async () => {
  const { at } = await withRegistry();
  const source = `import { Type } from "typebox";
export default Object.assign((pi, { greeting }) => pi.register("tool", greeting, { name: greeting, description: "", parameters: Type.Object({}), execute: async () => ({ content: [] }) }), { options: Type.Object({ greeting: Type.String() }) });`;
  const path = await at.write(join(at.agentDir, "../greeter/index.ts"), source);
  await at.write(
    join(at.agentDir, "settings.json"),
    JSON.stringify({ packages: [{ source: path, options: { greeting: "hi" } }] }),
  );
  expect(tools(await loadIn(at))).toEqual(["hi"]);
  await at.write(
    join(at.agentDir, "settings.json"),
    JSON.stringify({ packages: [{ source: path, options: { greeting: {} } }] }),
  );
  expect((await loadIn(at)).report.problems).toMatchObject([{ code: "invalid_options" }]);
});

test("-e npm:name brings a package for the run that names it, and uses it again where nothing can be reached", async () => {
  const { at, registry } = await withRegistry();
  const flags = { extensions: ["npm:hello@^1"] };
  const loaded = await loadIn(at, { flags });
  expect(tools(loaded)).toEqual(["hello"]);
  expect(loaded.agent.registry("tool").get("hello")?.owner.scope).toBe("flag");
  expect(loaded.host.packages.list()).toEqual([]);
  registry.fail(/./, "403");
  await expect(loadIn(at, { flags: { extensions: ["npm:other"] } })).rejects.toMatchObject({ code: "package_denied" });
  registry.heal();
  await expect(loadIn(at, { flags: { extensions: ["npm:other"] } })).rejects.toMatchObject({
    code: "package_not_found",
  });
  registry.fail(/./, "reset");
  expect(tools(await loadIn(at, { flags }))).toEqual(["hello"]);
});

test("T4: what else changed in the project while the person installed is not theirs", async () => {
  const { at } = await withRegistry();
  await at.write(".pi/settings.json", JSON.stringify({ theme: "dark" }));
  await loadIn(at, { mode: askedWith("content") });
  const packages = await managing(at);
  await installPackage(packages.context, "npm:hello@^1", { cwd: at.path, scope: "project" });
  await at.write(".pi/extensions/evil.ts", toolExtension("evil", ""));
  const settings = { theme: "dark", shellPath: "/tmp/evil", packages: ["npm:hello@^1"] };
  await at.write(".pi/settings.json", JSON.stringify(settings));
  await packages.approveChange();
  const loaded = await loadIn(at);
  expect(tools(loaded)).toEqual([]);
  expect(loaded.host.settings.get("shellPath")).toBeUndefined();
});

test("P3: a folder that the person installs for a trusted project stays trusted", async () => {
  const { at } = await withRegistry();
  await at.write("lint/index.ts", toolExtension("lint", ""));
  const packages = await managing(at);
  await installPackage(packages.context, "./lint", { cwd: at.path, scope: "project" });
  await packages.approveChange();
  expect(tools(await loadIn(at))).toEqual(["lint"]);
});

test("P12: of two packages of one name the first counts, and the other is told; what was typed takes its place", async () => {
  const { at, registry } = await withRegistry();
  await install(at, "npm:hello@^1");
  const manifest = '{ "name": "hello", "version": "9.0.0", "pi": { "extensions": ["./x.ts"] } }';
  await at.write(join(at.home, "hello/package.json"), manifest);
  await at.write(join(at.home, "hello/x.ts"), toolExtension("other", ""));
  await expect(install(at, join(at.home, "hello"))).rejects.toMatchObject({ code: "package_conflict" });
  const packages = ["npm:hello@^1", join(at.home, "hello")];
  await at.write(join(at.agentDir, "settings.json"), JSON.stringify({ packages }));
  const loaded = await loadIn(at);
  expect(tools(loaded)).toEqual(["hello"]);
  expect(loaded.report.problems).toMatchObject([{ code: "package_conflict" }]);
  publish(registry, "1.1.0");
  await at.write(join(at.agentDir, "settings.json"), JSON.stringify({ packages: ["npm:hello@^1"] }));
  const typed = await loadIn(at, { flags: { extensions: ["npm:hello@1.1.0"] } });
  expect(typed.report.extensions.map(({ owner }) => owner.scope)).toEqual(["flag"]);
});

test("P11: an exact version that was typed before asks nobody", async () => {
  const { at, registry } = await withRegistry();
  const flags = { extensions: ["npm:hello@1.0.0"] };
  await loadIn(at, { flags });
  const asked = registry.asked.length;
  expect(tools(await loadIn(at, { flags }))).toEqual(["hello"]);
  expect(registry.asked).toHaveLength(asked);
});

test("a file that was typed stays loaded, also where it lies beside a package's", async () => {
  const { at } = await withRegistry();
  await at.write(join(at.home, "dev/package.json"), '{ "name": "dev", "pi": { "extensions": ["./a.ts"] } }');
  await at.write(join(at.home, "dev/a.ts"), toolExtension("a", ""));
  await at.write(join(at.home, "dev/b.ts"), toolExtension("b", ""));
  await at.write(join(at.agentDir, "settings.json"), JSON.stringify({ packages: [join(at.home, "dev")] }));
  expect(tools(await loadIn(at, { flags: { extensions: [join(at.home, "dev/b.ts")] } }))).toEqual(["a", "b"]);
});

test("options that a project's settings give to a folder of its own reach it, and another answer brings new ones", async () => {
  const { at } = await withRegistry();
  const source = `import { Type } from "typebox";
export default Object.assign((pi, { greeting }) => pi.register("tool", greeting, { name: greeting, description: "", parameters: Type.Object({}), execute: async () => ({ content: [] }) }), { options: Type.Object({ greeting: Type.String() }) });`;
  await at.write("greeter/index.ts", source);
  const settings = { packages: [{ source: "../greeter", options: { greeting: "hi" } }] };
  await at.write(".pi/settings.json", JSON.stringify(settings));
  expect(tools(await loadIn(at, { mode: askedWith("content") }))).toEqual(["hi"]);
});

test("a filter that is none is told, and turns nothing on; a pattern of a project ends no start", async () => {
  const { at } = await withRegistry();
  await install(at, "npm:hello@^1");
  for (const filter of [
    { extensions: "none" },
    { extension: [] },
    { autoload: "false" },
    { extensions: ["*".repeat(201)] },
  ]) {
    await at.write(
      join(at.agentDir, "settings.json"),
      JSON.stringify({ packages: [{ source: "npm:hello@^1", ...filter }] }),
    );
    const loaded = await loadIn(at);
    expect([tools(loaded), loaded.report.problems]).toMatchObject([[], [{ code: "package_source" }]]);
  }
  await at.write(join(at.agentDir, "settings.json"), "{}");
  await at.write("pkg/extensions/a.ts", "");
  const theirs = { packages: [{ source: "../pkg", extensions: ["*".repeat(201)] }] };
  await at.write(".pi/settings.json", JSON.stringify(theirs));
  const { report } = await loadIn(at);
  expect(report.plan.items.filter(({ kind }) => kind === "package")).toMatchObject([{ verdict: "refused" }]);
});
