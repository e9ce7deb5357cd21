/**
 * Stands between Node's own ways of loading and the files of projects: what is a member is evaluated as it was hashed,
 * what is not is refused. One pair of hooks serves all agents of the process.
 */
import { registerHooks } from "node:module";
import { extname, isAbsolute } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { compileFunction } from "node:vm";
import { readRegularFile, SCAN_LIMITS } from "./file-view.ts";
import { assertLent, isLent } from "./lent.ts";
import type { Mode } from "./module-resolver.ts";
import { notAMember, type ServedProject } from "./served.ts";

const SERVED = new Set<ServedProject>();
let lastStray: { path: string; by: Asker } | undefined;
let hooks: { deregister(): void } | undefined;

/** Has Node's imports pass here for a project, until the answer is called. */
export function guardImports(project: ServedProject): () => void {
  SERVED.add(project);
  hooks ??= registerHooks({ resolve, load });
  return () => {
    SERVED.delete(project);
    if (SERVED.size > 0) return;
    hooks?.deregister();
    hooks = undefined;
  };
}

/** The project that a file is served by; `undefined` for files of no project, and the host's own. */
export function projectOf(path: string): ServedProject | undefined {
  const owners = [...SERVED].filter((project) => project.owns(path)).toReversed();
  return owners.find((project) => project.has(path)) ?? owners.find((project) => project.admits()) ?? owners[0];
}

interface Asker {
  specifier: string;
  from: string;
}

type Resolve = NonNullable<Parameters<typeof registerHooks>[0]["resolve"]>;
type Load = NonNullable<Parameters<typeof registerHooks>[0]["load"]>;

function resolve(...[specifier, context, next]: Parameters<Resolve>): ReturnType<Resolve> {
  const from = toPath(context.parentURL);
  const named = specifier.startsWith("/") ? specifier : toPath(specifier);
  const known = named === undefined ? undefined : projectOf(named);
  // What was hashed is at its own path, whatever stands there now.
  if (named !== undefined && known?.has(named)) return answer(known, named);
  const asking = from === undefined ? undefined : projectOf(from);
  if (from === undefined || !asking || (asking.holdsHost && !asking.has(from))) {
    return check(next(specifier, context), { specifier, from });
  }
  if (isLent(specifier)) {
    assertLent(specifier);
    return next(specifier, context);
  }
  const mode: Mode = context.conditions.includes("require") ? "require" : "import";
  const found = asking.locate({ specifier, from, mode });
  if ("path" in found) return answer(asking, found.path);
  if ("stray" in found) return answerStray(asking, found.stray, { specifier, from });
  if ("builtin" in found) return next(specifier, context);
  const outside = { ...context, parentURL: pathToFileURL(asking.outside).href };
  return check(next(found.outside, outside), { specifier, from });
}

function answer(project: ServedProject, path: string): ReturnType<Resolve> {
  return { url: project.kept.addressOf(path), shortCircuit: true };
}

/** Names a file that is no member, as `require.resolve` is asked to; it is refused when it is to be evaluated. */
function answerStray(project: ServedProject, path: string, by: Asker): ReturnType<Resolve> {
  if (!isAbsolute(path) || project.kept.has(path)) throw notAMember(path, by);
  lastStray = { path, by };
  return { url: pathToFileURL(path).href, shortCircuit: true };
}

/** Sees that what Node found is no file of a project, or a member. */
function check(found: ReturnType<Resolve>, by: { specifier: string; from: string | undefined }): ReturnType<Resolve> {
  const path = toPath(found.url);
  const project = path === undefined ? undefined : projectOf(path);
  if (path === undefined || !project) return found;
  if (project.has(path)) return { ...found, url: project.kept.addressOf(path) };
  if (project.admits(by.from)) return found;
  throw notAMember(path, { specifier: by.specifier, from: by.from ?? "the host" });
}

function load(...[url, context, next]: Parameters<Load>): ReturnType<Load> {
  const path = toPath(url);
  const project = path === undefined ? undefined : projectOf(path);
  if (path === undefined || !project) return next(url, context);
  const bytes = project.bytesOf(path);
  // Native code cannot be handed over as bytes: it is what it is when it is opened.
  if (bytes && extname(path) !== ".node") {
    const format = formatOf(project, path, bytes);
    const isRequired = context.conditions.includes("require");
    project.kept.note(path, bytes, { isModule: format.startsWith("module"), isRequired });
    return { format, source: bytes, shortCircuit: true };
  }
  if (bytes && isUnchanged(path, bytes)) return next(url, context);
  const stray = lastStray?.path === path ? lastStray.by : undefined;
  if (!bytes && (project.admits() || (project.holdsHost && !stray))) return next(url, context);
  throw notAMember(path, stray);
}

function isUnchanged(path: string, bytes: Buffer): boolean {
  try {
    return readRegularFile(path, SCAN_LIMITS.fileBytes).equals(bytes);
  } catch {
    return false;
  }
}

const FORMATS: Readonly<Record<string, string>> = {
  ".mjs": "module",
  ".cjs": "commonjs",
  ".json": "json",
  ".wasm": "wasm",
  ".mts": "module-typescript",
  ".cts": "commonjs-typescript",
};

function formatOf(project: ServedProject, path: string, bytes: Buffer): string {
  const ending = extname(path);
  const known = FORMATS[ending];
  if (known !== undefined) return known;
  const type = project.typeOf(path);
  const isModule = type === "module" || (type !== "commonjs" && !isCommonJs(bytes.toString("utf8")));
  return (isModule ? "module" : "commonjs") + (ending === ".ts" ? "-typescript" : "");
}

const COMMON_JS = ["exports", "require", "module", "__filename", "__dirname"];

/** Tells whether a text can be evaluated as CommonJS: what cannot is taken for a module, as Node does. */
export function isCommonJs(text: string): boolean {
  try {
    compileFunction(text.replace(/^\uFEFF?(?:#!.*)?/, ""), COMMON_JS);
    return true;
  } catch {
    return false;
  }
}

/** The path of a file's address; `undefined` for any other. */
function toPath(url: string | undefined): string | undefined {
  if (url === undefined || !/^file:/i.test(url)) return undefined;
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}
