import { existsSync, globSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { packageOf, ROOT, readPackages } from "./packages.ts";

const packages = readPackages();
const byName = new Map(packages.map((each) => [each.name, each]));
/** A package of `extensions/` that is a library: it has no `pi` key, and any extension may import its values. */
const isLibrary = (name: string) => byName.get(name)?.room === "extensions" && !byName.get(name)?.manifest.pi;

test("the kernel imports nothing but typebox and async_hooks", () => {
  const foreign = byName
    .get("@pi-agent/kernel")!
    .imports.filter(
      ({ specifier }) =>
        !specifier.startsWith(".") && specifier !== "node:async_hooks" && packageOf(specifier) !== "typebox",
    );
  expect(foreign).toEqual([]);
});

test("nothing imports upwards: kernel, then loader, then cli; extensions know only the kernel's types", () => {
  const allowed: Record<string, (name: string, isType: boolean) => boolean> = {
    kernel: () => false,
    loader: (name) => name === "@pi-agent/kernel",
    cli: (name) =>
      name === "@pi-agent/kernel" || name === "@pi-agent/loader" || byName.get(name)!.room === "extensions",
    extensions: (name, isType) =>
      isType ? byName.get(name)!.room === "extensions" || name === "@pi-agent/kernel" : isLibrary(name),
    skills: () => false,
    test: () => true,
    docs: () => true,
  };
  const crossings = packages.flatMap((each) =>
    each.imports.filter(({ specifier, isType }) => {
      const target = packageOf(specifier);
      return target !== undefined && target !== each.name && byName.has(target) && !allowed[each.room]!(target, isType);
    }),
  );
  expect(crossings).toEqual([]);
});

test("every package declares what it imports", () => {
  const undeclared = packages.flatMap(({ manifest, imports }) => {
    const published = { ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.peerDependencies };
    // Its bundle carries what it is made of.
    const run = manifest.name === "@pi-agent/cli" ? { ...published, ...manifest.devDependencies } : published;
    return imports.filter(({ specifier, isType }) => {
      const target = packageOf(specifier);
      return target !== undefined && !(target in run) && !(isType && target in (manifest.devDependencies ?? {}));
    });
  });
  expect(undeclared).toEqual([]);
});

test("no package depends on itself by way of others", () => {
  const visit = (name: string, trail: string[]): string[] => {
    if (trail.includes(name)) return [...trail, name];
    for (const next of Object.keys(byName.get(name)?.manifest.dependencies ?? {})) {
      const cycle = byName.has(next) ? visit(next, [...trail, name]) : [];
      if (cycle.length > 0) return cycle;
    }
    return [];
  };
  expect(packages.map(({ name }) => visit(name, [])).filter((cycle) => cycle.length > 0)).toEqual([]);
});

test("a package has one door; the cli may have a second, and the test kit one for each kind of author", () => {
  const more: Record<string, string[][]> = {
    "@pi-agent/cli": [[".", "./rpc-client"], ["."]],
    // Who peers on it is compared with its version.
    "@pi-agent/kernel": [[".", "./package.json"]],
    // The suite that every session store passes.
    "@pi-agent/sessions": [[".", "./conformance"]],
    "@pi-agent/testing": [[".", "./provider", "./wire", "./house"]],
  };
  const doors = Object.fromEntries(packages.map(({ name, manifest }) => [name, Object.keys(manifest.exports ?? {})]));
  for (const [name, paths] of Object.entries(doors)) {
    expect(more[name] ?? [["."], []], name).toContainEqual(paths);
  }
});

test("a default export is an extension's entry and nothing else", () => {
  const wrong = packages.flatMap((each) =>
    each.sources.filter(
      (source) =>
        each.hasDefaultExport(source) !==
        (source === `${each.folder}/src/index.ts` && Boolean(each.manifest.pi?.extensions)),
    ),
  );
  expect(wrong.filter((source) => !source.startsWith("docs/"))).toEqual([]);
});

test("files are named after what they hold", () => {
  const names = packages
    .flatMap(({ sources }) => sources)
    .concat(globSync("{test,docs}/**/*.ts", { cwd: ROOT, exclude: ["**/node_modules/**", "**/dist/**"] }));
  const vague = names.filter((path) => /(^|\/)(utils?|helpers?|common|misc|manager|impl)(\.|\/|$)/.test(path));
  expect(vague).toEqual([]);
  const odd = names.filter(
    (path) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.(test|test-d|bench|config|d))?\.ts$/.test(basename(path)),
  );
  expect(odd).toEqual([]);
});

test("every installable package says what it is", () => {
  const silent = packages.filter(
    ({ folder, manifest }) => !manifest.private && !existsSync(join(ROOT, folder, "README.md")),
  );
  expect(silent.map(({ name }) => name)).toEqual([]);
});

test("the top level holds the rooms, and nothing that a newcomer would not expect", () => {
  const rooms = globSync("*/", { cwd: ROOT })
    .map((each) => each.replace(/\/$/, ""))
    .filter((each) => !each.startsWith(".") && each !== "node_modules");
  expect(rooms.sort()).toEqual(["cli", "docs", "extensions", "kernel", "loader", "skills", "test"]);
});
