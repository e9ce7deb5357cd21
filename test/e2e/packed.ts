/** The packages of this checkout as they are published, for tests that install them as a stranger would. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, realpathSync, statSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { withLock } from "../../loader/src/locked-file.ts";
import { packEntries } from "../../loader/test/packages/tarballs.ts";
import type { Verdaccio } from "./packages-verdaccio.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");
// Kept for the other test files, and until a source changes.
const KEPT = join(ROOT, "node_modules/.cache/pi-agent-packed");
const ROOMS = ["kernel", "loader", "cli", "test/kit", "extensions/*"];
const ROOT_FILES = [
  "package.json",
  "pnpm-workspace.yaml",
  "pnpm-lock.yaml",
  "tsdown.config.ts",
  "tsconfig*.json",
  "*.schema.json",
];
// Building the types of one takes seconds: only what others write against gets them.
const TYPED = ["kernel", "test/kit"];
const BUILD_MS = 240_000;
const KEPT_MS = 3_600_000;

export interface Packed {
  /** Of the tarballs. Nothing is written into it. */
  folder: string;
  /** By the package's name, the path of its tarball. */
  tarballs: ReadonlyMap<string, string>;
}

let once: Promise<Packed> | undefined;

/** Builds and packs every package that is published, in a copy of the checkout; for sources that it knows, only looks. */
export function packAll(): Promise<Packed> {
  once ??= pack();
  return once;
}

async function pack(): Promise<Packed> {
  const folder = join(KEPT, digestSources());
  await mkdir(KEPT, { recursive: true });
  await withLock(join(KEPT, "packing"), BUILD_MS, async () => {
    if (!existsSync(folder)) await packInto(folder);
  });
  const paths = (await readdir(folder)).map((name) => join(folder, name));
  const named = await Promise.all(paths.map(async (path) => [(await readPacked(path)).name, path] as const));
  return { folder, tarballs: new Map(named) };
}

/**
 * Publishes packages, with all that they depend on: ours from their tarballs, others as they are installed here. Once for
 * a registry, which takes a fifth of a second for each.
 */
export async function publishAll(registry: Verdaccio, packed: Packed, names: readonly string[]): Promise<void> {
  const wanted: Wanted = { ours: new Set(), others: new Map() };
  for (const name of names) {
    if (packed.tarballs.has(name)) await collectOurs(packed, name, wanted);
    else collectOther(ROOT, name, wanted.others);
  }
  // One after the other: two versions of a package are one document.
  for (const name of wanted.ours) {
    const path = packed.tarballs.get(name)!;
    await publish(registry, await readPacked(path), await readFile(path));
  }
  for (const [folder, manifest] of wanted.others) await publish(registry, manifest, packInstalled(folder));
}

// ---------------------------------------------------------------- build and pack

function digestSources(): string {
  const rooms = ROOMS.flatMap((room) => [`${room}/package.json`, `${room}/README.md`, `${room}/bin/*`]);
  const patterns = [...ROOT_FILES, ...rooms, "cli/templates/**/*", ...ROOMS.map((room) => `${room}/src/**/*`)];
  const digest = createHash("sha256").update(readFileSync(import.meta.filename));
  for (const path of globSync(patterns, { cwd: ROOT }).toSorted()) {
    const absolute = join(ROOT, path);
    if (statSync(absolute).isFile()) digest.update(`\0${path}\0`).update(readFileSync(absolute));
  }
  return digest.digest("hex").slice(0, 16);
}

async function packInto(folder: string): Promise<void> {
  const copy = await mkdtemp(join(tmpdir(), "pi-packed-"));
  try {
    await copyCheckout(copy);
    await writeFile(join(copy, "packed.config.ts"), CONFIG);
    const tsdown = join(ROOT, "node_modules/tsdown/dist/run.mjs");
    await run(process.execPath, [tsdown, "--all", "--config", "packed.config.ts", "--logLevel", "warn"], { cwd: copy });
    const pnpm = join(ROOT, "node_modules/.bin/pnpm");
    const rooms = ROOMS.flatMap((room) => ["--filter", `./${room}`]);
    await run(pnpm, ["-r", ...rooms, "pack", "--pack-destination", join(copy, "packs")], { cwd: copy });
    // The temp folder may be on another file system.
    await cp(join(copy, "packs"), `${folder}.draft`, { recursive: true });
    await rename(`${folder}.draft`, folder);
    await removeOld();
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** Another process may still work with the one before. */
async function removeOld(): Promise<void> {
  const folders = globSync("*/", { cwd: KEPT }).map((name) => join(KEPT, name));
  const old = folders.filter((folder) => Date.now() - statSync(folder).mtimeMs > KEPT_MS);
  await Promise.all(old.map((folder) => rm(folder, { recursive: true, force: true })));
}

const CONFIG = `import configs from "./tsdown.config.ts";
const typed = ${JSON.stringify(TYPED)};
export default configs
  .filter(({ name }) => name !== "test/attack-kit")
  .map((config) => ({ ...config, dts: typed.includes(config.name) && config.dts }));
`;

/** Sources, manifests, and the links in `node_modules`, which lead to this checkout's store. */
async function copyCheckout(copy: string): Promise<void> {
  for (const name of globSync(ROOT_FILES, { cwd: ROOT })) await cp(join(ROOT, name), join(copy, name));
  for (const room of globSync(ROOMS, { cwd: ROOT })) {
    const unwanted = ["dist", "test"].map((name) => join(ROOT, room, name));
    const filter = (path: string) => !unwanted.includes(path);
    await cp(join(ROOT, room), join(copy, room), { recursive: true, verbatimSymlinks: true, filter });
  }
  await symlink(join(ROOT, "node_modules"), join(copy, "node_modules"));
}

// ---------------------------------------------------------------- publish

interface PackedManifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

interface Wanted {
  ours: Set<string>;
  /** By their folder in this checkout's store. */
  others: Map<string, PackedManifest>;
}

async function collectOurs(packed: Packed, name: string, wanted: Wanted): Promise<void> {
  if (wanted.ours.has(name)) return;
  wanted.ours.add(name);
  const path = packed.tarballs.get(name)!;
  const room = globSync(ROOMS, { cwd: ROOT }).find((each) => readManifest(join(ROOT, each)).name === name);
  const { dependencies, peerDependencies } = await readPacked(path);
  for (const next of Object.keys({ ...dependencies, ...peerDependencies })) {
    if (packed.tarballs.has(next)) await collectOurs(packed, next, wanted);
    else collectOther(join(ROOT, room ?? ""), next, wanted.others);
  }
}

function collectOther(from: string, name: string, others: Wanted["others"]): void {
  const folder = findInstalled(from, name);
  // One for another platform.
  if (folder === undefined || others.has(folder)) return;
  const manifest = readManifest(folder);
  others.set(folder, manifest);
  const { dependencies, optionalDependencies } = manifest;
  for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) collectOther(folder, next, others);
}

function findInstalled(from: string, name: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, "node_modules", name);
    if (existsSync(join(folder, "package.json"))) return realpathSync(folder);
    if (at === dirname(at)) return undefined;
  }
}

function readManifest(folder: string): PackedManifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as PackedManifest;
}

async function readPacked(tarball: string): Promise<PackedManifest> {
  const { stdout } = await run("tar", ["-xzOf", tarball, "package/package.json"]);
  return JSON.parse(stdout) as PackedManifest;
}

function packInstalled(folder: string): Buffer {
  const paths = globSync("**/*", { cwd: folder }).filter((path) => statSync(join(folder, path)).isFile());
  return packEntries(
    paths.map((path) => ({
      path: `package/${path}`,
      content: readFileSync(join(folder, path)),
      mode: statSync(join(folder, path)).mode & 0o777,
    })),
  );
}

async function publish(
  { url, token }: Pick<Verdaccio, "url" | "token">,
  manifest: PackedManifest,
  tarball: Buffer,
): Promise<void> {
  const { name, version } = manifest;
  const file = `${name}-${version}.tgz`;
  const dist = {
    integrity: `sha512-${createHash("sha512").update(tarball).digest("base64")}`,
    shasum: createHash("sha1").update(tarball).digest("hex"),
    tarball: `${url}/${name}/-/${file}`,
  };
  const data = tarball.toString("base64");
  const answer = await fetch(`${url}/${encodeURIComponent(name)}`, {
    method: "PUT",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({
      _id: name,
      name,
      "dist-tags": { latest: version },
      versions: { [version]: { ...manifest, _id: `${name}@${version}`, dist } },
      _attachments: { [file]: { content_type: "application/octet-stream", data, length: tarball.length } },
    }),
  });
  if (!answer.ok) throw new Error(`${name}@${version}: ${answer.status} ${await answer.text()}`);
}
