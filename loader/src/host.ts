import { resolve } from "node:path";
import { type FlagValue, type Host, headlessUi } from "@pi-agent/kernel";
import type { CredentialStore } from "./credentials.ts";
import { execOutside } from "./exec.ts";
import type { LifeCycle } from "./life-cycle.ts";
import type { ModelStore } from "./models.ts";
import type { LoadMode, LoadOptions } from "./options.ts";
import type { InstalledPackage } from "./packages/index.ts";
import { realPathOf } from "./places.ts";
import type { LoadPlan } from "./plan.ts";
import type { Programs } from "./programs.ts";
import type { ResourceStore } from "./resources.ts";
import type { SettingsStore } from "./settings.ts";
import type { TrustDecision, TrustGrant } from "./trust.ts";

declare module "@pi-agent/kernel" {
  interface Services {
    trust: TrustService;
    environment: EnvironmentService;
    packages: PackagesService;
  }
}

/** A package that is declared, as extensions may know it. */
export interface PackageFacts
  extends Pick<InstalledPackage, "identity" | "name" | "version" | "source" | "scope" | "state"> {
  /** Paths of extensions, skills, prompts and themes that are on, below the package. */
  resources: readonly string[];
}

/** What extensions may know about installed packages. */
export interface PackagesService {
  list(): readonly PackageFacts[];
}

/** Where the person's files are, and the variables that this agent goes by. */
export interface EnvironmentService {
  readonly agentDir: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Finds a program by its name on PATH, outside of the project. */
  findProgram(name: string): string | undefined;
}

/** What extensions may know about trust. */
export interface TrustService {
  readonly decision: TrustDecision;
  /** `undefined` before the project was looked at. */
  readonly plan?: LoadPlan;
}

/** The host that the loader gives an agent. */
export interface LoaderHost extends Host {
  settings: SettingsStore;
  credentials: CredentialStore;
  models: ModelStore;
  trust: TrustService;
  environment: EnvironmentService;
  packages: PackagesService;
}

/** Puts the host together. `cwd` is changed when a session from elsewhere is opened, `flags` filled when they are settled. */
export function createHost(parts: {
  cwd: string;
  options: LoadOptions;
  settings: SettingsStore;
  credentials: CredentialStore;
  models: ModelStore;
  resources: ResourceStore;
  /** The decision about the project as it is now. */
  grant: () => TrustGrant | undefined;
  environment: EnvironmentService;
  packages: PackagesService;
  programs: Programs;
  flags: ReadonlyMap<string, FlagValue>;
  lifeCycle: LifeCycle;
}): LoaderHost {
  const { options, resources, lifeCycle } = parts;
  const trust = describeTrust(parts.grant);
  const host: LoaderHost = {
    cwd: parts.cwd,
    ...describeMode(options.mode),
    flags: parts.flags,
    settings: parts.settings,
    resources: resources.service,
    credentials: parts.credentials,
    models: parts.models,
    trust,
    environment: parts.environment,
    packages: parts.packages,
    isProjectTrusted: () => trust.decision === "trusted",
    realPath: (path) => realPathOf(resolve(host.cwd, path)),
    fetch: (...request) => fetch(...request),
    exec: (command, args, given) => {
      const run = { cwd: host.cwd, env: withoutKeys(parts), ...given };
      return execOutside(command, args, { ...run, programs: parts.programs, isTrusted: host.isProjectTrusted() });
    },
    newSession: (given) => lifeCycle.newSession(given),
    switchSession: (path) => lifeCycle.switchSession(path),
    fork: (entryId, given) => lifeCycle.fork(entryId, given),
    navigateTree: (entryId, given) => lifeCycle.navigateTree(entryId, given),
    reload: () => lifeCycle.reload(),
    shutdown: () => {},
    ...options.host,
  };
  return host;
}

/** The environment for programs without the variables that hold keys. */
function withoutKeys({
  credentials,
  programs,
}: {
  credentials: CredentialStore;
  programs: Programs;
}): NodeJS.ProcessEnv {
  const env = programs.environment();
  for (const name of credentials.names()) delete env[name];
  return env;
}

/** What extensions may know, as it is when they look. */
function describeTrust(grant: () => TrustGrant | undefined): TrustService {
  return {
    get decision() {
      return grant()?.decision ?? "untrusted";
    },
    get plan() {
      return grant()?.plan;
    },
  };
}

function describeMode(mode: LoadMode | undefined): Pick<Host, "mode" | "hasUI" | "ui"> {
  if (mode) return { mode: mode.name, hasUI: mode.hasUI, ui: mode.ui };
  return { mode: "sdk", hasUI: false, ui: headlessUi };
}
