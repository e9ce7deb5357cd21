/** Brings extensions to life, one after the other, each wholly or not at all (E1, E2, E4). */

import { type Acting, createApi } from "./api.ts";
import type { Extension, ExtensionEntry, ExtensionReport } from "./contract.ts";
import type { Core } from "./core.ts";
import { AgentError, toAgentError } from "./errors.ts";
import { runAs } from "./hooks.ts";
import { Scope } from "./scope.ts";
import { prepareValidation, validate } from "./validate.ts";
import { isPromise } from "./values.ts";

const FACTORY_LIMIT_MS = 10_000;

export interface Activated {
  scope: Scope;
  report: ExtensionReport;
}

/** Runs factories in order; one whose required services are not there yet waits for those that provide them. */
export async function activateAll(
  core: Core,
  entries: readonly ExtensionEntry[],
  at: { agent: Acting; nextOrder: () => number; onActivated: (activated: Activated) => void },
): Promise<ExtensionReport[]> {
  const reports = new Map<ExtensionEntry, ExtensionReport>();
  let waiting = [...entries];
  while (waiting.length > 0) {
    const next = waiting.find((entry) => missingServices(core, entry).length === 0);
    const entry = next ?? waiting[0]!;
    waiting = waiting.filter((each) => each !== entry);
    const scope = new Scope(entry.owner, at.nextOrder());
    const report = await activate(core, {
      entry,
      scope,
      agent: at.agent,
      missing: next ? [] : missingServices(core, entry),
    });
    reports.set(entry, report);
    at.onActivated({ scope, report });
    if (report.error) core.report({ owner: entry.owner, event: "load", error: report.error });
  }
  return entries.map((entry) => reports.get(entry)!);
}

async function activate(
  core: Core,
  { entry, scope, agent, missing }: { entry: ExtensionEntry; scope: Scope; agent: Acting; missing: string[] },
): Promise<ExtensionReport> {
  const { owner } = entry;
  const startedAt = performance.now();
  const loadMs = () => Math.round((performance.now() - startedAt) * 100) / 100;
  try {
    if (missing.length > 0) throw missingService(entry, missing);
    const options = await optionsOf(entry);
    const pi = createApi(core, scope, agent);
    const done = runAs(owner, () => entry.extension(pi, options as never));
    if (isPromise(done)) await inTime(done, owner.name);
    scope.commit();
    return { owner, state: "loaded", loadMs: loadMs() };
  } catch (thrown) {
    await scope.dispose();
    return { owner, state: "failed", loadMs: loadMs(), error: toAgentError(thrown, owner.name) };
  }
}

function missingServices(core: Core, entry: ExtensionEntry): string[] {
  return Object.keys(entry.requires ?? {}).filter((name) => core.service(name as never) === undefined);
}

async function optionsOf(entry: ExtensionEntry): Promise<unknown> {
  const { extension, options } = entry;
  assertExtension(extension, entry.owner.name);
  const { options: schema } = extension;
  // Nothing was given and nothing is asked for: a start need not load the validator.
  if (!schema || (options === undefined && !("required" in schema))) return options;
  await prepareValidation();
  const validation = validate(schema, options ?? {});
  if (validation.ok) return validation.value;
  throw new AgentError("invalid_options", `The options of ${entry.owner.name} do not fit:\n${validation.problem}`, {
    hint: "Its README lists the options that it takes.",
    owner: entry.owner.name,
  });
}

function assertExtension(value: unknown, name: string): asserts value is Extension {
  if (typeof value === "function") return;
  throw new AgentError(
    "invalid_extension",
    `${name} does not export an extension: its default export is ${describe(value)}.`,
    {
      hint: "Export a function as default: export default (pi) => { … }.",
      owner: name,
    },
  );
}

function describe(value: unknown): string {
  return value === undefined ? "missing" : `a ${typeof value}`;
}

function inTime(done: Promise<unknown>, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = new AgentError("factory_late", `${name} was not ready within ${FACTORY_LIMIT_MS / 1000} s.`, {
      hint: "Do long work in session_start, or when it is first needed.",
      owner: name,
    });
    const timer = setTimeout(() => reject(late), FACTORY_LIMIT_MS);
    done.then(() => resolve(), reject).finally(() => clearTimeout(timer));
  });
}

function missingService(entry: ExtensionEntry, missing: string[]): AgentError {
  const packages = missing.map((name) => entry.requires![name]!);
  return new AgentError(
    "missing_service",
    `${entry.owner.name} needs ${missing.join(", ")}, which nothing that is loaded provides.`,
    {
      hint: `Install ${packages.join(", ")}.`,
      owner: entry.owner.name,
    },
  );
}
