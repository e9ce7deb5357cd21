/** What the operations on packages are told by whoever calls them, and where things are. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { realPathOf } from "../places.ts";

/** What an operation is doing, for whoever shows it. */
export interface PackageProgress {
  step: "waiting" | "resolving" | "fetching" | "unpacking" | "running" | "saving";
  /** The package, or the program that is run. */
  what: string;
  done?: number;
  total?: number;
}

/** The machine and the person, as an operation on packages sees them. */
export interface PackageContext {
  agentDir: string;
  home: string;
  env: NodeJS.ProcessEnv;
  /** Finds a program by its bare name, outside of any project. */
  findProgram: (name: string) => string | undefined;
  /** The folder `.pi` of the project, for packages that are its own. Only where the person trusts it. */
  projectDir?: string;
  /** What the host has of the packages that others peer on, by name: versions. */
  hostVersions: Readonly<Record<string, string>>;
  /** Tells whether a host package, by its name, is lent to extensions now. */
  isLent: (name: string) => boolean;
  /** Nothing is fetched: what is in the cache is used. */
  isOffline?: boolean;
  /** Versions that were published less long ago are refused. */
  minimumReleaseAgeMs?: number;
  /** How long an answer may take; the person's `.npmrc` may say otherwise. */
  requestTimeoutMs?: number;
  signal?: AbortSignal;
  onProgress?: (progress: PackageProgress) => void;
}

/** Where the packages of one settings file are declared, locked and kept. */
export interface PackageScope {
  name: "user" | "project";
  /** The folder of the settings file; relative sources are relative to it. */
  folder: string;
  settings: string;
  lock: string;
  /** The lock before the last change. */
  previousLock: string;
  /** Holds `<name>/<key>/package`, one root for each package. */
  store: string;
}

/** The scope of a name. Fails where there is no project. */
export function scopeOf(
  context: Pick<PackageContext, "agentDir" | "projectDir">,
  name: PackageScope["name"],
): PackageScope {
  const folder = name === "user" ? context.agentDir : context.projectDir;
  if (folder === undefined) throw new Error("No project was named.");
  return {
    name,
    folder,
    settings: join(folder, "settings.json"),
    // A person may keep it elsewhere, and link it; what a project links to is not followed.
    lock: name === "user" ? realPathOf(join(folder, "pi.lock.json")) : join(folder, "pi.lock.json"),
    previousLock: join(folder, "pi.lock.previous.json"),
    // A project's repository brings no bytes: they lie with the person.
    store: name === "user" ? join(folder, "packages") : projectStoreOf(context.agentDir, folder),
  };
}

function projectStoreOf(agentDir: string, folder: string): string {
  const key = createHash("sha256").update(realPathOf(folder)).digest("hex").slice(0, 32);
  return join(agentDir, "project-packages", key);
}

/** The folder of what was fetched, which may be emptied at any time. */
export function cacheOf({ agentDir }: Pick<PackageContext, "agentDir">): string {
  return join(agentDir, "cache", "packages");
}
