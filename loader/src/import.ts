/**
 * Imports extension files, TypeScript or JavaScript, through jiti: a new instance for every file, so that nothing of an
 * earlier load is seen again. Node evaluates what lies under `node_modules`.
 *
 *   the person's own ─► lent modules that it mentions ─► jiti (own transform, kept by content) ─► default export
 *   a project's      ─► lent modules that it mentions ─► the bytes that were hashed (`evaluate.ts`) ─► default export
 */
import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { AgentError, type Extension } from "@pi-agent/kernel";
import type { createJiti, Jiti, JitiOptions, TransformOptions, TransformResult } from "jiti";
import { evaluateEntry } from "./evaluate.ts";
import { type FastCompile, loadFastCompile } from "./fast-compile.ts";
import { toImportError } from "./import-error.ts";
import { createLender, findNeeded, type Lender } from "./lent.ts";
import { guardImports, projectOf } from "./module-hooks.ts";
import { notAMember, ServedProject } from "./served.ts";
import { createTransform, isEntryKept } from "./transform.ts";
import type { TrustGrant } from "./trust.ts";

/** Sees a file before it is evaluated, and may refuse it by throwing. */
export type Check = (file: string, source: string) => void;

export interface Importer {
  /**
   * Imports an extension's entry; `check` gets each of its own files. Fails with `extension_syntax`, `extension_import`,
   * `extension_export`, `extension_late`, `extension_failed`, `not_a_member`.
   */
  load(path: string, check?: Check): Promise<Extension>;
  /** From now on a project's code is what this grant lets load, as it was hashed; other projects' is none. */
  serve(grant: TrustGrant): void;
  dispose(): void;
}

const UNCHECKED: Check = () => {};
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
  const { agentDir } = options;
  let lender: Lender | undefined;
  let compileFast: FastCompile | undefined;
  let jiti: Promise<typeof import("jiti")> | undefined;
  let loading = 0;
  const projects = new Map<string, { project: ServedProject; stop(): void }>();
  const cacheDir = join(agentDir, "cache", "transform");
  const rootFor = createRoots();
  let compile: Compile | undefined;
  // jiti loads its own compiler when it is first asked.
  const compileKept = (create: typeof createJiti): Compile =>
    (compile ??= createTransform({
      cacheDir,
      compile: (given) => compileFast?.(given) ?? create(import.meta.url, SETTLED).transform(given),
    }));
  const findProject = (path: string) => [...projects.values()].find(({ project }) => project.owns(path))?.project;
  return {
    async load(path, check = UNCHECKED) {
      const project = findProject(path);
      // Files that load side by side are one load.
      if (loading++ === 0) forgetJson();
      const read = (file: string) => (project?.has(file) ? project.read(file) : readFileSync(file));
      try {
        const entry = project ? path : realpathSync.native(path);
        lender ??= createLender(() => options.modules());
        const source = (project ? project.read(entry) : readFileSync(entry)).toString("utf8");
        await lender.loadMentioned(source);
        if (!isEntryKept(cacheDir, entry, source)) compileFast ??= await loadFastCompile();
        const { createJiti } = await (jiti ??= import("jiti"));
        const by = { lender, check, project, create: createJiti, compile: compileKept(createJiti), rootFor };
        return toExtension(path, await inTime(path, evaluateFile(entry, by), options.limitMs ?? LIMIT_MS));
      } catch (thrown) {
        throw toImportError(path, thrown, read);
      } finally {
        loading--;
      }
    },
    serve(grant) {
      for (const [boundary, { project }] of projects) if (boundary !== grant.key) project.serve();
      const project = projects.get(grant.key)?.project ?? new ServedProject(grant.key, agentDir);
      project.serve(grant);
      // Without code of the project's or of the person's there is nobody who could ask for any.
      if (projects.has(grant.key) || (project.isEmpty && !lender)) return;
      projects.set(grant.key, { project, stop: guardImports(project) });
    },
    dispose() {
      lender?.dispose();
      for (const served of projects.values()) served.stop();
      projects.clear();
    },
  };
}

type Compile = (given: TransformOptions) => TransformResult;

interface EvaluateFile {
  lender: Lender;
  check: Check;
  project: ServedProject | undefined;
  create: typeof createJiti;
  compile: Compile;
  rootFor: (create: typeof createJiti, by: { check: Check; compile: Compile; lent: Record<string, unknown> }) => Jiti;
}

async function evaluateFile(entry: string, by: EvaluateFile): Promise<unknown> {
  const { lender, check, project, create, compile, rootFor } = by;
  for (let tries = 1; ; tries++) {
    const lent = lender.modules();
    const jiti = rootFor(create, { check, compile, lent });
    try {
      if (!project) return await jiti.import(entry);
      return await evaluateEntry(entry, { project, jiti, lent, compile, interop: createInterop(create) });
    } catch (thrown) {
      const needed = findNeeded(thrown);
      if (needed === undefined || tries > MAX_TRIES) throw thrown;
      await lender.load(needed);
    }
  }
}

/** Makes the jiti that imports entries: one for all that load with the same check and the same lent modules. */
function createRoots(): EvaluateFile["rootFor"] {
  let kept: { jiti: Jiti; check: Check; names: string } | undefined;
  return (create, { check, compile, lent }) => {
    const names = Object.keys(lent).join("\n");
    if (kept?.check === check && kept.names === names) return kept.jiti;
    const transform = (given: TransformOptions) => compile(checkSource(given, check));
    const jiti = create(import.meta.url, { ...SETTLED, transform, virtualModules: lent });
    kept = { jiti, check, names };
    return jiti;
  };
}

/** Puts what was hashed in the place of what jiti read, where a file is a project's. Fails with `not_a_member`. */
function checkSource(given: TransformOptions, check: Check): TransformOptions {
  const { filename = "", source } = given;
  check(filename, source);
  const project = projectOf(filename);
  if (!project) return given;
  if (project.has(filename)) return { ...given, source: project.read(filename).toString("utf8") };
  if (project.holdsHost || project.admits()) return given;
  throw notAMember(filename);
}

/** Makes what gives exports the lenient `default` of jiti's modules: jiti itself, which does so with what it is lent. */
function createInterop(create: typeof createJiti): (exports: unknown) => unknown {
  let given: unknown;
  const virtualModules = {
    get exports() {
      return given;
    },
  };
  const jiti = create(import.meta.url, { ...SETTLED, virtualModules });
  return (exports) => {
    given = exports;
    return jiti("exports");
  };
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
