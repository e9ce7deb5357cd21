/** Brings extensions to life, one after the other, each wholly or not at all (E1, E2, E4). */

import { type Acting, createApi } from "./api.ts";
import type { AgentOptions, Extension, ExtensionEntry, ExtensionReport } from "./contract.ts";
import type { Core } from "./core.ts";
import { AgentError, toAgentError } from "./errors.ts";
import { runAs } from "./frames.ts";
import { Scope } from "./scope.ts";
import type { Scopes } from "./scopes.ts";
import { prepareValidation, validate } from "./validate.ts";
import { isPromise } from "./values.ts";

const FACTORY_LIMIT_MS = 10_000;

export interface Activation {
  agent: Acting;
  scopes: Scopes;
  /** Extensions take the place of those of the same name. */
  replace: boolean;
}

/** Runs factories in order; one whose required services are not there yet waits for those that provide them. */
export async function activateAll(
  core: Core,
  entries: readonly ExtensionEntry[],
  activation: Activation,
): Promise<ExtensionReport[]> {
  const reports = new Map<ExtensionEntry, ExtensionReport>();
  let waiting = [...entries];
  while (waiting.length > 0) {
    const next = waiting.find((entry) => missingServices(core, entry).length === 0);
    const entry = next ?? waiting[0]!;
    waiting = waiting.filter((each) => each !== entry);
    const before = activation.replace ? entries[entries.indexOf(entry) - 1] : undefined;
    reports.set(entry, await activate(core, entry, { ...activation, before }));
  }
  return entries.map((entry) => reports.get(entry)!);
}

async function activate(
  core: Core,
  entry: ExtensionEntry,
  { agent, scopes, replace, before }: Activation & { before: ExtensionEntry | undefined },
): Promise<ExtensionReport> {
  const old = replace ? scopes.find(entry.owner.name) : undefined;
  const owner = core.freshOwner(entry.owner);
  const scope = new Scope(owner, old?.order ?? scopes.orderAfter(before && scopes.find(before.owner.name)));
  const { account } = scope;
  const startedAt = performance.now();
  core.accounts.set(owner, account);
  try {
    await runFactory(core, { ...entry, owner }, createApi(core, scope, agent));
    swap(old, scope);
    if (old) account.leaks = await scopes.end(old);
  } catch (thrown) {
    await scope.dispose();
    account.state = old ? "kept" : "failed";
    account.error = toAgentError(thrown, owner.name);
    core.report({ owner, event: "load", error: account.error });
    core.forget(owner);
    if (old) core.accounts.set(old.owner, old.account);
  }
  account.loadMs = Math.round((performance.now() - startedAt) * 100) / 100;
  if (account.state !== "kept") scopes.keep(scope);
  return account;
}

async function runFactory(core: Core, entry: ExtensionEntry, pi: ReturnType<typeof createApi>): Promise<void> {
  const missing = missingServices(core, entry);
  if (missing.length > 0) throw missingService(entry, missing);
  const options = await optionsOf(entry);
  const done = runAs(entry.owner, () => entry.extension(pi, options as never));
  if (isPromise(done)) await inTime(done, entry.owner.name);
}

/** The new one takes effect where the old one stops; when it cannot, the old one is put back. */
function swap(old: Scope | undefined, scope: Scope): void {
  old?.withdraw();
  try {
    scope.commit();
  } catch (thrown) {
    old?.commit();
    throw thrown;
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

/** An extension with what a loader would know about it. */
export function toEntry(given: NonNullable<AgentOptions["extensions"]>[number], index: number): ExtensionEntry {
  if (typeof given === "object" && "extension" in given) return given;
  const [extension, options] = Array.isArray(given) ? given : [given];
  return { extension, options, owner: { name: extension.name || `extension ${index + 1}`, scope: "inline" } };
}
