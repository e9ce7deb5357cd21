import { execFile } from "node:child_process";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { installPackage, listPackages, removePackage } from "../../src/packages/index.ts";
import {
  digestTree,
  type Lock,
  type LockedPackage,
  parseLock,
  printLock,
  readLock,
  writeLock,
} from "../../src/packages/lock-file.ts";
import { temporaryFolder } from "./folders.ts";
import { packageHome } from "./home.ts";
import { startRegistry } from "./registry.ts";

const SHA = `sha256-${"a".repeat(64)}`;
const DEPENDENCIES = {
  "node_modules/b": { version: "1.0.0", resolved: "https://r/b.tgz", integrity: "sha512-bb==", files: SHA },
};
const LOCKED: LockedPackage = {
  source: "npm:a",
  name: "a",
  version: "1.0.0",
  resolved: "https://r/a.tgz",
  integrity: "sha512-aa==",
  files: SHA,
  tree: digestTree(DEPENDENCIES),
  scripts: [],
  capabilities: [],
  dependencies: DEPENDENCIES,
};

test("P3: a lock is written sorted, read back the same, and the one before it is kept", async () => {
  const folder = await temporaryFolder();
  const paths = { lock: join(folder, "pi.lock.json"), previousLock: join(folder, "pi.lock.previous.json") };
  const one: Lock = new Map([
    ["npm:z", { ...LOCKED, name: "z" }],
    ["npm:a", LOCKED],
  ]);
  await writeLock(paths, one);
  const text = await readFile(paths.lock, "utf8");
  expect(Object.keys(JSON.parse(text).packages)).toEqual(["npm:a", "npm:z"]);
  expect(printLock(readLock(paths.lock))).toBe(text);
  expect((await stat(paths.lock)).mode & 0o077).toBe(0);
  await writeLock(paths, new Map());
  expect(await readFile(paths.previousLock, "utf8")).toBe(text);
  expect(readLock(paths.lock).size).toBe(0);
  expect(readLock(join(folder, "none.json")).size).toBe(0);
});

const DAMAGE: [what: string, change: (locked: Record<string, unknown>) => unknown][] = [
  ["an unknown key", (locked) => ({ ...locked, more: 1 })],
  ["no files digest", (locked) => ({ ...locked, files: undefined })],
  ["a name that leads out", (locked) => ({ ...locked, name: "../evil" })],
  ["a place that leads out", (locked) => withPlace(locked, "node_modules/../../evil")],
  ["a place beside node_modules", (locked) => withPlace(locked, "extensions/evil")],
  ["an absolute place", (locked) => withPlace(locked, "/node_modules/evil")],
  ["a tree that is not that of its dependencies", (locked) => ({ ...locked, dependencies: {} })],
  ["no integrity", (locked) => ({ ...locked, integrity: undefined })],
  ["an address that is no address", (locked) => ({ ...locked, resolved: "ext::sh -c evil" })],
  ["an integrity that is none", (locked) => ({ ...locked, integrity: "md5-x" })],
];

test.each(DAMAGE)("P3: a lock with %s is refused as a whole", async (_, change) => {
  const text = JSON.stringify({ version: 1, packages: { "npm:a": change({ ...LOCKED }) } });
  expect(() => parseLock(Buffer.from(text))).toThrow();
});

test.each([
  ["empty", ""],
  ["cut", '{"version":1,"pack'],
  ["of another version", '{"version":2,"packages":{}}'],
  ["a list", "[]"],
  ["with a repeated key", '{"version":1,"packages":{},"packages":{}}'],
  ["with __proto__", '{"version":1,"packages":{},"__proto__":{}}'],
])("P3: a lock file that is %s is told with its place, and nothing is installed over it", async (_, text) => {
  const at = await packageHome("http://127.0.0.1:9");
  const path = await at.write(".pi/agent/pi.lock.json", text);
  await at.write(".pi/agent/settings.json", '{"packages":["npm:a"]}');
  await expect(listPackages(at.context)).rejects.toMatchObject({
    code: "package_lock_broken",
    message: expect.stringContaining(path),
    hint: expect.any(String),
  });
  expect(await readFile(path, "utf8")).toBe(text);
});

test("P3: whatever a lock file holds, it is read or refused, and never with anything but a reason", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      try {
        parseLock(Buffer.from(text));
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(Error);
      }
    }),
    { numRuns: 300 },
  );
});

test("P4: a change that was cut off between the lock and the settings is the old state", async () => {
  const registry = await startRegistry();
  for (const version of ["1.0.0", "2.0.0"])
    registry.publish({ name: "a", version, files: { "extensions/x.ts": version } });
  const at = await packageHome(registry.url);
  await installPackage(at.context, "npm:a@1.0.0", { cwd: at.home });
  const before = await readFile(join(at.agentDir, "settings.json"));
  await installPackage(at.context, "npm:a@2.0.0", { cwd: at.home });
  await writeFile(join(at.agentDir, "settings.json"), before);
  expect(await listPackages(at.context)).toMatchObject([{ version: "1.0.0", state: "ok" }]);
  expect(await installPackage(at.context, "npm:a@2.0.0", { cwd: at.home })).toMatchObject({ status: "unchanged" });
  expect(await listPackages(at.context)).toMatchObject([{ version: "2.0.0", state: "ok" }]);
});

test("P11: the module loads none of the libraries it uses, and listing none of npm's", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "agent"));
  const entry = JSON.stringify(join(import.meta.dirname, "../../src/packages/index.ts"));
  const script = `
    import { createRequire } from "node:module";
    const { listPackages } = await import(${entry});
    const context = { agentDir: ${JSON.stringify(join(folder, "agent"))}, home: "/", env: {}, hostVersions: {}, isLent: () => true };
    await listPackages(context);
    const loaded = Object.keys(createRequire(import.meta.url).cache).filter((path) => path.includes("node_modules"));
    console.log(JSON.stringify(loaded));
  `;
  const args = ["--conditions", "@pi-agent/source", "--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
  expect(JSON.parse(stdout)).toEqual([]);
});

function withPlace(locked: Record<string, unknown>, place: string): unknown {
  const dependencies = { [place]: DEPENDENCIES["node_modules/b"] };
  return { ...locked, dependencies, tree: digestTree(dependencies) };
}

test("P6: comments and other entries of the settings stay where they are, whatever is installed, changed and removed", async () => {
  const at = await packageHome();
  const one = await at.write("one.ts", "export default () => {}");
  const two = await at.write("two.ts", "export default () => {}");
  const text = `{
  // my packages
  "packages": [
    // needed
    "npm:kept",
    "${one}"
  ]
}
`;
  const settings = await at.write(".pi/agent/settings.json", text);
  await installPackage(at.context, two, { cwd: at.home });
  expect(await readFile(settings, "utf8")).toContain('// needed\n    "npm:kept",');
  await removePackage(at.context, two, { cwd: at.home });
  await removePackage(at.context, one, { cwd: at.home });
  expect(await readFile(settings, "utf8")).toBe(text.replace(`,\n    "${one}"`, ""));
});
