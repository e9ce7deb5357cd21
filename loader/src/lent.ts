/**
 * What the host lends to extensions, so that there is one copy of it: the one table of it, and how extension code gets
 * at it, whether jiti evaluates the code or Node imports it natively.
 *
 *   mentioned in the entry ──► loaded before the extension runs
 *   asked for by a dependency only ──► `LentNeeded` ──► loaded, and the import is tried again
 */
import { registerHooks } from "node:module";

/** Each module is imported when the first extension asks for it. */
const LENT: Readonly<Record<string, () => Promise<object>>> = {
  "@pi-agent/kernel": () => import("@pi-agent/kernel"),
  typebox: () => import("typebox"),
  "typebox/compile": () => import("typebox/compile"),
  "typebox/value": () => import("typebox/value"),
  "@sinclair/typebox": () => import("typebox"),
  "@sinclair/typebox/compile": () => import("typebox/compile"),
  "@sinclair/typebox/value": () => import("typebox/value"),
};

const SCHEME = "pi-lent:";
// A module that Node evaluates natively finds the lent one here.
const SHELF = Symbol.for("@pi-agent/loader lent modules");

/** Tells whether the host lends a module of its own by this name. */
export function isLent(specifier: string): boolean {
  return Object.hasOwn(LENT, specifier);
}

/** Fails, in a way that has it loaded, when a module of the host's own is not there yet. */
export function assertLent(specifier: string): void {
  if (!openShelf().has(specifier)) needed(specifier);
}

/** A lent module was asked for before it was there. */
class LentNeeded extends Error {
  readonly specifier: string;
  constructor(specifier: string) {
    super(`${specifier} is lent by the host, but was not loaded yet.`);
    this.name = "LentNeeded";
    this.specifier = specifier;
  }
}

export interface Lender {
  /** For jiti: has every name that is lent now; reading one that is not loaded throws `LentNeeded`. */
  modules(): Record<string, unknown>;
  load(specifier: string): Promise<void>;
  /** Loads what a source text mentions. */
  loadMentioned(source: string): Promise<void>;
  dispose(): void;
}

/** Lends the table, and what extensions registered as modules of their own. */
export function createLender(registered: () => ReadonlyMap<string, { value: unknown }>): Lender {
  const shelf = openShelf();
  const modules = () => {
    const lent: Record<string, unknown> = {};
    for (const name of [...Object.keys(LENT), ...registered().keys()]) {
      const get = () => registered().get(name)?.value ?? shelf.get(name) ?? needed(name);
      Object.defineProperty(lent, name, { enumerable: true, configurable: true, get });
    }
    return lent;
  };
  const load = async (name: string) => {
    const found = shelf.get(name) ?? (await LENT[name]?.());
    if (found) shelf.set(name, found);
  };
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (!Object.hasOwn(LENT, specifier) || !shelf.has(specifier)) return next(specifier, context);
      return { url: SCHEME + specifier, format: "module", shortCircuit: true };
    },
    load(url, context, next) {
      if (!url.startsWith(SCHEME)) return next(url, context);
      const name = url.slice(SCHEME.length);
      return { format: "module", source: writeModule(name, shelf.get(name) ?? {}), shortCircuit: true };
    },
  });
  return {
    modules,
    load,
    async loadMentioned(source) {
      const mentioned = Object.keys(LENT).filter((name) => isMentioned(source, name));
      await Promise.all(mentioned.map(load));
    },
    dispose: () => hooks.deregister(),
  };
}

/** Tells which lent module a failed import could not find; `undefined` when it failed for another reason. */
export function findNeeded(thrown: unknown): string | undefined {
  if (thrown instanceof LentNeeded) return thrown.specifier;
  const message = thrown instanceof Error && "code" in thrown ? thrown.message : "";
  const named = /^Cannot find (?:module|package) '([^']+)'/.exec(message)?.[1];
  return named !== undefined && Object.hasOwn(LENT, named) ? named : undefined;
}

function needed(name: string): never {
  throw new LentNeeded(name);
}

function isMentioned(source: string, name: string): boolean {
  return source.includes(`"${name}"`) || source.includes(`'${name}'`);
}

function openShelf(): Map<string, object> {
  const place = globalThis as { [SHELF]?: Map<string, object> };
  place[SHELF] ??= new Map();
  return place[SHELF];
}

/** A module that hands out what another instance already made. */
function writeModule(name: string, lent: object): string {
  const names = Object.keys(lent).map((each) => JSON.stringify(each));
  return [
    `const lent = globalThis[Symbol.for(${JSON.stringify(SHELF.description)})].get(${JSON.stringify(name)});`,
    ...names.map((each, index) => `const v${index} = lent[${each}];`),
    `export { ${names.map((each, index) => `v${index} as ${each}`).join(", ")} };`,
  ].join("\n");
}
