/** Finds the person's own extensions, and brings files to the kernel as extensions. */
import { join } from "node:path";
import {
  type Agent,
  AgentError,
  type Extension,
  type ExtensionEntry,
  type ExtensionReport,
  type Owner,
  runAs,
  toAgentError,
} from "@pi-agent/kernel";
import { dropSwitchedOff, type Found, find } from "./discover.ts";
import { createOwnView, INSIDE } from "./file-view.ts";
import type { Check, Importer } from "./import.ts";
import { findPlace, toText } from "./import-error.ts";
import { belongsToProject, type Places, realPathOf, resolveFrom } from "./places.ts";
import { tellFault } from "./told.ts";

/** An extension file, and who wants it. */
export interface Wanted {
  path: string;
  requires?: Readonly<Record<string, string>>;
  scope: "package" | "user" | "flag" | "project";
  /** The resource of a project's plan that lets it load. */
  id?: string;
  /** The name of the package that it is a part of. */
  package?: string;
  /** For its factory, where it takes any. */
  options?: unknown;
}

/** A path inside the boundary: it waits for trust, unless it was typed. */
export interface Inside {
  /** Real. */
  path: string;
  source: string;
  isTyped: boolean;
}

/** The person's own extensions in load order: packages, settings, folder, `-e`. */
export interface OwnExtensions {
  now: Wanted[];
  inside: Inside[];
  problems: AgentError[];
  /** The first `-e` that names none (`extension_source`), or one that cannot be accepted (`extension_refused`). */
  typedFault?: AgentError;
}

/** Finds the person's own extensions. What was typed is relative to the folder `typedIn`. */
export async function findOwnExtensions(
  places: Places,
  asked: {
    /** Of packages: they come first. */
    packaged: readonly Wanted[];
    typed: readonly string[];
    typedIn: string;
    list: readonly string[];
    isDiscovering: boolean;
  },
): Promise<OwnExtensions> {
  const { agentDir, home } = places;
  const view = createOwnView((path) => belongsToProject(places, path));
  const result: OwnExtensions = { now: [], inside: [], problems: [] };
  const seen = new Set<string>();
  const take = (found: readonly Found[], scope: "user" | "flag", source: string) => {
    for (const { path, requires, refusal } of found) {
      const real = realPathOf(path);
      if (seen.has(real)) continue;
      seen.add(real);
      if (refusal === INSIDE) result.inside.push({ path: real, source, isTyped: scope === "flag" });
      else if (refusal !== undefined && scope === "flag") result.typedFault ??= refuse(path, refusal);
      else if (refusal !== undefined) result.problems.push(refuse(path, refusal));
      else result.now.push({ path, requires, scope });
    }
  };
  const findAll = (path: string) => find("extension", view, path);
  const typed: Found[] = [];
  for (const path of asked.typed) {
    const found = await findAll(resolveFrom(asked.typedIn, path, home));
    if (found.length === 0) result.typedFault ??= missing(path);
    typed.push(...found);
  }
  // What was typed has its own place, last, even if it would be found without.
  for (const { path } of typed) seen.add(realPathOf(path));
  for (const each of asked.packaged) {
    const real = realPathOf(each.path);
    if (seen.has(real)) continue;
    seen.add(real);
    result.now.push(each);
  }
  if (asked.isDiscovering) {
    for (const entry of asked.list.filter((each) => !/^[!+-]/.test(each))) {
      const found = await findAll(resolveFrom(agentDir, entry, home));
      if (found.length === 0) result.problems.push(missing(entry));
      take(found, "user", "user settings");
    }
    const folder = join(agentDir, "extensions");
    const found = dropSwitchedOff(await findAll(folder), { view, folder, base: agentDir, list: asked.list });
    take(found, "user", "user extensions");
  }
  for (const { path } of typed) seen.delete(realPathOf(path));
  take(typed, "flag", "-e");
  return result;
}

/** Where extensions are loaded into. */
export interface Into {
  agent: Agent;
  importer: Importer;
  /** Names of what is loaded already: a new instance takes its place, and it goes on where that fails. */
  alive: ReadonlySet<string>;
  check?: Check;
  /** Stands between an extension and its `pi`. */
  adapt?: (extension: Extension) => Extension;
}

/**
 * Imports files and hands them to the agent: side by side the imports, in order the factories. Answers a report on each;
 * what fails keeps nothing else from loading (E2).
 */
export async function loadExtensions(wanted: readonly Wanted[], into: Into): Promise<ExtensionReport[]> {
  if (wanted.length === 0) return [];
  const { importer, check, adapt = (extension) => extension } = into;
  const reports = new Map<Owner, ExtensionReport>();
  const importMs = new Map<Owner, number>();
  const owners: Owner[] = [];
  const entries = await Promise.all(
    wanted.map(async ({ path, requires, scope, package: of, options }): Promise<ExtensionEntry | undefined> => {
      const owner: Owner = { name: path, scope, path, ...(of !== undefined && { package: of }) };
      owners.push(owner);
      const startedAt = performance.now();
      try {
        const extension = adapt(await runAs(owner, () => importer.load(path, check)));
        importMs.set(owner, performance.now() - startedAt);
        return { owner, requires, options, extension };
      } catch (thrown) {
        const report = reportFailure(owner, { thrown, startedAt, into });
        reports.set(owner, report);
        await tellFault(into.agent, owner, { event: "load", error: report.error });
        return undefined;
      }
    }),
  );
  const imported = entries.filter((entry) => entry !== undefined);
  const activated = await into.agent.extend(imported, { replace: true });
  activated.forEach((report, index) => {
    const { owner } = imported[index]!;
    // The agent's own account, which counts the factory alone.
    report.loadMs = roundMs(report.loadMs + importMs.get(owner)!);
    reports.set(owner, locate(report));
  });
  return owners.flatMap((owner) => reports.get(owner) ?? []);
}

function reportFailure(
  owner: Owner,
  { thrown, startedAt, into }: { thrown: unknown; startedAt: number; into: Into },
): ExtensionReport & { error: AgentError } {
  const costs = { hookMs: 0, promptTokens: 0, errors: 1, slow: [] };
  const loadMs = roundMs(performance.now() - startedAt);
  const error = toAgentError(thrown, owner.name);
  if (!into.alive.has(owner.name)) return { owner, state: "failed", loadMs, ...costs, error };
  return { owner, state: "kept", loadMs, ...costs, error: reword(error, { hint: KEPT }) };
}

const KEPT = "The version before goes on: mend it there and reload.";

function reword(error: AgentError, { message = error.message, hint = error.hint }): AgentError {
  const { code, cause, owner } = error;
  return new AgentError(code, message, { hint, cause, owner });
}

function roundMs(ms: number): number {
  return Math.round(ms * 100) / 100;
}

/** Tells whether an instance of it is loaded, be it an old one. */
export function isAlive({ state }: ExtensionReport): boolean {
  return state === "loaded" || state === "kept";
}

/** Tells whether a report is about one of these files. */
export function isOneOf(files: readonly { path: string }[], { owner }: ExtensionReport): boolean {
  return files.some(({ path }) => path === owner.name);
}

/** Tells whether what is loaded is still to be: it was found, or it was typed and something that was typed is gone. */
export function isFound(report: ExtensionReport, { now, typedFault }: OwnExtensions): boolean {
  return isOneOf(now, report) || (typedFault !== undefined && report.owner.scope === "flag");
}

/** Puts the place in the source before the message of a factory that threw, and says what goes on without it. */
function locate(report: ExtensionReport): ExtensionReport {
  const { error, owner, state } = report;
  if (!error) return report;
  const place = findPlace(error.cause ?? error, owner.path ?? "");
  const message = place && `${toText(place)}: ${error.message}`;
  const hint = state === "kept" ? KEPT : undefined;
  return message || hint ? { ...report, error: reword(error, { message, hint }) } : report;
}

function refuse(path: string, reason: string): AgentError {
  return new AgentError("extension_refused", `The extension ${path} was not loaded: it ${reason}.`, {
    hint: "Put a regular file there, or take it away.",
  });
}

function missing(path: string): AgentError {
  return new AgentError("extension_source", `There is no extension at ${path}.`, {
    hint: "Name a .ts or .js file, or a folder with a package.json that lists extensions, an index.ts or an index.js.",
  });
}
