/**
 * Imports extension files, TypeScript or JavaScript, through jiti: a new instance for every file, so that nothing of an
 * earlier load is seen again. Node evaluates what lies under `node_modules`.
 *
 *   real path ─► lent modules that it mentions ─► jiti (own transform, kept by content) ─► default export
 */
import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { AgentError, type Extension } from "@pi-agent/kernel";
import type { createJiti, JitiOptions, TransformOptions } from "jiti";
import { toImportError } from "./import-error.ts";
import { createLender, findNeeded, type Lender } from "./lent.ts";
import { createTransform } from "./transform.ts";

/** Sees a file before it is evaluated, and may refuse it by throwing. */
export type Check = (file: string, source: string) => void;

export interface Importer {
  /**
   * Imports an extension's entry; `check` gets each of its own files.
   * Fails with `extension_syntax`, `extension_import`, `extension_export`, `extension_late`, `extension_failed`.
   */
  load(path: string, check?: Check): Promise<Extension>;
  dispose(): void;
}

// From E2: longer than this nobody waits for a file to be evaluated.
const LIMIT_MS = 10_000;
// A dependency may ask for each lent module once.
const MAX_TRIES = 8;

/** Makes an importer. jiti itself is imported with the first file. */
export function createImporter(options: {
  agentDir: string;
  modules(): ReadonlyMap<string, { value: unknown }>;
  limitMs?: number;
}): Importer {
  let lender: Lender | undefined;
  const cacheDir = join(options.agentDir, "cache", "transform");
  return {
    async load(path, check = () => {}) {
      try {
        const entry = realpathSync.native(path);
        lender ??= createLender(() => options.modules());
        await lender.loadMentioned(readFileSync(entry, "utf8"));
        const { createJiti } = await import("jiti");
        forgetJson();
        const evaluate = () => evaluateFile(createJiti, entry, { lender: lender as Lender, cacheDir, check });
        return toExtension(path, await inTime(path, evaluate(), options.limitMs ?? LIMIT_MS));
      } catch (thrown) {
        throw toImportError(path, thrown);
      }
    },
    dispose: () => lender?.dispose(),
  };
}

async function evaluateFile(
  create: typeof createJiti,
  entry: string,
  by: { lender: Lender; cacheDir: string; check: Check },
): Promise<unknown> {
  const { lender, cacheDir, check } = by;
  // jiti's own compiler, which it loads when it is first asked.
  const compile = (given: TransformOptions) => create(entry, SETTLED).transform(given);
  const transform = createTransform({ cacheDir, check, compile });
  for (let tries = 1; ; tries++) {
    const jiti = create(entry, { ...SETTLED, transform, virtualModules: lender.modules() });
    try {
      return await jiti.import(entry);
    } catch (thrown) {
      const needed = findNeeded(thrown);
      if (needed === undefined || tries > MAX_TRIES) throw thrown;
      await lender.load(needed);
    }
  }
}

// Every option that the environment could otherwise set (JITI_*), and no caches but our own.
const SETTLED: JitiOptions = {
  fsCache: false,
  moduleCache: false,
  rebuildFsCache: false,
  sourceMaps: false,
  interopDefault: true,
  tsconfigPaths: false,
  tryNative: false,
  esmEvalTempFile: false,
  jsx: false,
  debug: false,
  alias: {},
  nativeModules: [],
  transformModules: [],
};

/** jiti leaves JSON to `require`, which would hand out what an earlier load read. */
function forgetJson(): void {
  const { cache } = createRequire(import.meta.url);
  for (const path of Object.keys(cache)) {
    if (path.endsWith(".json") && !/[/\\]node_modules[/\\]/.test(path)) delete cache[path];
  }
}

function toExtension(path: string, module: unknown): Extension {
  const exported = (module as { default?: unknown } | null | undefined)?.default ?? module;
  if (typeof exported === "function") return exported as Extension;
  throw new AgentError("extension_export", `${path} does not export an extension: its default export is no function.`, {
    hint: "Export a function as default: export default (pi) => { … }.",
    owner: path,
  });
}

function inTime<T>(path: string, work: Promise<T>, limitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () =>
      reject(
        new AgentError("extension_late", `${path} was not evaluated within ${limitMs / 1000} s.`, {
          hint: "Await nothing at the top of the file that may not come; do it in session_start.",
          owner: path,
        }),
      );
    const timer = setTimeout(late, limitMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
