/** What the `package.json` of a package says, as far as it is needed here. Data, of a stranger maybe. */
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { JsonObject } from "@pi-agent/kernel";
import { isJsonObject } from "../json-check.ts";
import type { Wanted } from "./dependencies.ts";
import { isHost, isHostPeer, isLentByHost } from "./host-packages.ts";
import { codeOf, wordUnsafe } from "./package-error.ts";
import { findNameFault } from "./package-name.ts";

export interface PackageManifest {
  name: string;
  /** Whether it says its name itself. */
  isNamed: boolean;
  version?: string;
  description?: string;
  /** What it asks for that is installed. */
  wanted: Wanted;
  /** Packages of the host that it needs, with their ranges; `isOptional` peers are not in it. */
  hostPeers: Record<string, string>;
  /** Packages of the host that it brings along all the same. */
  bundledHosts: string[];
  capabilities: string[];
  /** Host packages that it lends itself. */
  lends: string[];
  hasInstallScripts: boolean;
}

const MAX_BYTES = 4 << 20;
const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall"];

/** Reads the manifest in a package's folder. `fallback` names one that has no name. Fails with `package_unsafe`. */
export async function readPackageManifest(
  folder: string,
  { label, fallback }: { label: string; fallback: string },
): Promise<PackageManifest> {
  const json = await readJson(folder, label);
  const name = json.name === undefined ? fallback : json.name;
  const fault = typeof name === "string" ? findNameFault(name) : "is no text";
  if (typeof name !== "string" || fault !== undefined) {
    throw wordUnsafe(label, `the name in its package.json ${fault}`);
  }
  const dependencies = rangesOf(json.dependencies);
  const optional = rangesOf(json.optionalDependencies);
  const peers = rangesOf(json.peerDependencies);
  const bundled = bundledOf(json);
  const meta = isJsonObject(json.peerDependenciesMeta) ? json.peerDependenciesMeta : {};
  const isOptional = (peer: string) => isJsonObject(meta[peer]) && meta[peer].optional === true;
  const isInstalled = (each: string) => !isHost(each) && !bundled.includes(each);
  const pi = isJsonObject(json.pi) ? json.pi : {};
  return {
    name,
    isNamed: json.name !== undefined,
    version: typeof json.version === "string" ? json.version.slice(0, 256) : undefined,
    description: typeof json.description === "string" ? json.description : undefined,
    wanted: {
      dependencies: {
        ...pick(peers, (each) => !isHostPeer(each) && !isOptional(each) && isInstalled(each)),
        ...pick(dependencies, (each) => isInstalled(each) && !Object.hasOwn(optional, each)),
      },
      optionalDependencies: pick(optional, isInstalled),
    },
    hostPeers: { ...pick(dependencies, isHost), ...pick(peers, (each) => isHostPeer(each) && !isOptional(each)) },
    bundledHosts: [...new Set([...Object.keys(dependencies).filter(isLentByHost), ...bundled.filter(isLentByHost)])],
    capabilities: textsOf(pi.capabilities),
    lends: textsOf(pi.lends),
    hasInstallScripts: INSTALL_SCRIPTS.some(
      (script) => isJsonObject(json.scripts) && typeof json.scripts[script] === "string",
    ),
  };
}

/** Reads the scripts that npm would run at an installation, in their order. */
export async function readInstallScripts(folder: string): Promise<{ event: string; command: string }[]> {
  const { scripts } = await readJson(folder, basename(folder));
  return INSTALL_SCRIPTS.flatMap((event) => {
    const command = isJsonObject(scripts) ? scripts[event] : undefined;
    return typeof command === "string" ? [{ event, command }] : [];
  });
}

/** The programs that a package has, by name: paths below it. */
export async function readPrograms(folder: string): Promise<Record<string, string>> {
  const { bin, name } = await readJson(folder, basename(folder));
  if (typeof bin === "string" && typeof name === "string") return { [name.replace(/^@[^/]*\//, "")]: bin };
  return pick(rangesOf(bin), (each) => /^[\w.-]+$/.test(each) && !/^\.+$/.test(each));
}

async function readJson(folder: string, name: string): Promise<JsonObject> {
  let bytes: Buffer;
  try {
    bytes = await readFile(join(folder, "package.json"));
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return {};
    throw cause;
  }
  if (bytes.length > MAX_BYTES) throw wordUnsafe(name, "its package.json is without measure");
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8").replace(/^\uFEFF/, ""));
  } catch {
    // Told below.
  }
  if (isJsonObject(value)) return value;
  throw wordUnsafe(name, "its package.json is no valid JSON object");
}

function bundledOf(json: JsonObject): string[] {
  const listed = json.bundleDependencies ?? json.bundledDependencies;
  return listed === true ? Object.keys(rangesOf(json.dependencies)) : textsOf(listed);
}

function rangesOf(value: unknown): Record<string, string> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === "string"),
  );
}

function pick(values: Record<string, string>, isWanted: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => isWanted(name)));
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
