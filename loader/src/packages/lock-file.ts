/**
 * `pi.lock.json`: what is installed, so that it can be installed again byte for byte (P3).
 *
 *   pi.lock.json            what holds now
 *   pi.lock.previous.json   what held before the last change, to go back to
 *
 * Both are replaced as a whole, the previous one first: a kill leaves the old state or the new one.
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AgentError } from "@pi-agent/kernel";
import { Refusal, readRegularFile } from "../file-view.ts";
import { findMisfits, type JsonSchema } from "../json-check.ts";
import { replaceFile } from "../locked-file.ts";
import { messageOf } from "../own-file.ts";
import { lookAt } from "../places.ts";
import { toPrintable } from "../printable.ts";
import { parseStrictJson } from "../strict-json.ts";
import { wordUnsafe, wordUnsaved } from "./package-error.ts";
import { findNameFault } from "./package-name.ts";

/** A package that another one brings along, at its place below that one. */
export interface LockedDependency {
  /** Where the place has another name than the package. */
  name?: string;
  version: string;
  resolved: string;
  integrity: string;
  /** The digest of its files; absent for what was not for the machine that locked. */
  files?: string;
  /** What machines it is for; absent is any. */
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optional?: boolean;
}

export interface LockedPackage {
  /** The source as the settings file has it. */
  source: string;
  name: string;
  version?: string;
  /** Where its bytes came from: a tarball's address, a repository's with the commit, or the path of a tarball. */
  resolved: string;
  integrity?: string;
  commit?: string;
  /** The digest of the package's own files. */
  files: string;
  /** The digest of the list of dependencies. */
  tree: string;
  /** Packages whose scripts the person allowed to run. */
  scripts: string[];
  capabilities: string[];
  /** By their places: `node_modules/name`, `node_modules/a/node_modules/b`. */
  dependencies: Record<string, LockedDependency>;
}

/** By identity: `npm:<name>`, `git:<repository>[::<folder>]`, `tarball:<path as the settings have it>`. */
export type Lock = ReadonlyMap<string, LockedPackage>;

// Many hundred packages with all their dependencies.
const MAX_BYTES = 16 << 20;
const SCHEMA_URL = "https://pi-agent.dev/schemas/pi-lock.schema.json";
const CHECKED = ".checked";
// Another one for every change to what is checked.
const RULES = "1";
const HINT = "Take it from your version control or from pi.lock.previous.json, or remove it and run: pi install";

let schema: JsonSchema | undefined;

/**
 * Reads a lock file; one that is not there is empty. `store`: a folder of the person's, where it is put down which bytes
 * were found sound, so that a start does not check them again. Fails with `package_lock_broken`.
 */
export function readLock(path: string, store?: string): Lock {
  if (lookAt(path) === undefined) return new Map();
  try {
    const bytes = readRegularFile(path, MAX_BYTES);
    return store === undefined ? parseLock(bytes) : parseOnce(bytes, join(store, CHECKED));
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    const why = toPrintable(thrown instanceof Refusal ? `it ${reason}` : reason);
    throw new AgentError("package_lock_broken", `${path} cannot be used: ${why}.`, { hint: HINT, cause: thrown });
  }
}

function parseOnce(bytes: Uint8Array, note: string): Lock {
  const digest = createHash("sha256").update(RULES).update(bytes).digest("hex");
  if (lookAt(note)?.isFile() && readFileSync(note, "latin1") === digest) {
    return toLock(JSON.parse(new TextDecoder().decode(bytes)));
  }
  const lock = parseLock(bytes);
  try {
    writeFileSync(note, digest, { mode: 0o600 });
  } catch {
    // Then they are checked again at the next start.
  }
  return lock;
}

/** Parses a lock file's bytes. Fails with an `Error` that says what is wrong. */
export function parseLock(bytes: Uint8Array): Lock {
  const value = parseStrictJson(bytes);
  const [misfit] = findMisfits(loadSchema(), value);
  if (misfit) throw new Error([...misfit.keys, misfit.message].join(": "));
  const lock = toLock(value);
  for (const [identity, locked] of lock) assertSound(identity, locked);
  return lock;
}

function toLock(value: unknown): Lock {
  const { packages } = value as { packages: Record<string, LockedPackage> };
  return new Map(Object.entries(packages));
}

/** Digests a list of dependencies. */
export function digestTree(dependencies: LockedPackage["dependencies"]): string {
  const lines = Object.entries(dependencies)
    .map(([place, { name = "", version, integrity }]) => [place, name, version, integrity].join("\0"))
    .sort();
  return `sha256-${createHash("sha256").update(lines.join("\n")).digest("hex")}`;
}

/** The text of a lock file: sorted, so that the same packages are the same bytes. */
export function printLock(lock: Lock): string {
  const packages = Object.fromEntries(
    [...lock].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, order(each)]),
  );
  return `${JSON.stringify({ $schema: SCHEMA_URL, version: 1, packages }, undefined, 2)}\n`;
}

/** Replaces a lock file, and keeps the one before it. Fails with `package_not_saved`. */
export async function writeLock(
  { lock: path, previousLock }: { lock: string; previousLock: string },
  lock: Lock,
): Promise<void> {
  const text = printLock(lock);
  assertReadable(text);
  try {
    const before = lookAt(path) ? readFileSync(path, "utf8") : undefined;
    if (before === text) return;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    if (before !== undefined) await replaceFile(previousLock, before);
    await replaceFile(path, text);
  } catch (cause) {
    throw wordUnsaved(path, cause);
  }
}

/** What cannot be read again would take all other packages with it. */
function assertReadable(text: string): void {
  try {
    parseLock(Buffer.from(text));
  } catch (thrown) {
    throw wordUnsafe("it", `it cannot be locked: ${messageOf(thrown)}`);
  }
}

function order({ source, name, version, resolved, integrity, commit, ...rest }: LockedPackage): LockedPackage {
  const { files, tree, scripts, capabilities, dependencies } = rest;
  const places = Object.keys(dependencies).sort();
  return {
    source,
    name,
    version,
    resolved,
    integrity,
    commit,
    files,
    tree,
    scripts: scripts.toSorted(),
    capabilities,
    dependencies: Object.fromEntries(places.map((place) => [place, dependencies[place]!])),
  };
}

/** What no schema says: names that become folders, and a digest that must be that of the list beside it. */
function assertSound(identity: string, { name, dependencies, tree, commit, integrity }: LockedPackage): void {
  const fault = findNameFault(name);
  if (fault !== undefined) throw new Error(`${identity}: the name ${fault}`);
  for (const place of Object.keys(dependencies)) assertPlace(identity, place);
  if (tree !== digestTree(dependencies)) throw new Error(`${identity}: "tree" is not the digest of its dependencies`);
  if (commit === undefined && integrity === undefined) throw new Error(`${identity}: it has no integrity`);
}

/** Fails when a place is not one below a package: `node_modules/name`, as often as there are levels. */
function assertPlace(identity: string, place: string): void {
  const names = place
    .split("/node_modules/")
    .map((each, at) => (at === 0 ? each.replace(/^node_modules\//, "") : each));
  const isBelow = place.startsWith("node_modules/");
  // Dependencies may have names from before capital letters were ruled out.
  if (isBelow && names.every((each) => findNameFault(each.toLowerCase()) === undefined)) return;
  throw new Error(`${identity}: "${place}" is no place of a dependency`);
}

/** The published schema: beside the package where it is installed, at the root of the repository where it is developed. */
function loadSchema(): JsonSchema {
  if (schema) return schema;
  const places = ["../", "../../", "../../../"].map((up) => new URL(`${up}pi-lock.schema.json`, import.meta.url));
  const path = places.map((each) => fileURLToPath(each)).find(lookAt);
  if (path === undefined) {
    throw new Error("this installation lacks pi-lock.schema.json, which lock files are checked with");
  }
  schema = JSON.parse(readFileSync(path, "utf8")) as JsonSchema;
  return schema;
}
