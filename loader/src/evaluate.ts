/**
 * Evaluates an extension of a project from the bytes that were hashed: jiti compiles its own files, Node evaluates its
 * dependencies, and nothing is read from the folder again.
 *
 *   own file ─► compiled, kept by content ─► run with its own `require` and `import` ─► members ─┬─► own file
 *                                                                                         ├─► dependency: Node
 *                                                                                         └─► lent, outside: jiti
 */
import { createRequire, Module } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Script } from "node:vm";
import { isAgentError } from "@pi-agent/kernel";
import type { Jiti, TransformOptions, TransformResult } from "jiti";
import { findNeeded } from "./lent.ts";
import { isCommonJs, projectOf } from "./module-hooks.ts";
import { isDependency, type Request } from "./module-resolver.ts";
import { missing, notAMember, type ServedProject } from "./served.ts";

export interface EvaluateOptions {
  project: ServedProject;
  /** Evaluates what lies outside the project. */
  jiti: Jiti;
  lent: Readonly<Record<string, unknown>>;
  compile(given: TransformOptions): TransformResult;
  /** Gives exports the lenient `default` that jiti's modules have. */
  interop(exports: unknown): unknown;
}

// What compiled code calls its surroundings.
const PARAMETERS = "exports, require, module, __filename, __dirname, jitiImport, jitiESMResolve";
const CODE = /\.[cm]?[jt]sx?$/;
// A byte order mark, and a line for the shell.
const BEFORE_CODE = /^\uFEFF?(?:#!.*)?/;
const SCHEME = /^(?:data|https?|node):/;
const TYPESCRIPT = /\.[cm]?tsx?$/;

/** Evaluates an entry and what it imports, each file once. Answers the entry's exports. */
export function evaluateEntry(entry: string, options: EvaluateOptions): Promise<unknown> {
  return Promise.resolve(new Evaluation(options).load(entry, true));
}

class Evaluation {
  private readonly by: EvaluateOptions;
  private readonly cache: Record<string, NodeJS.Module> = Object.create(null);

  constructor(by: EvaluateOptions) {
    this.by = by;
  }

  /** Answers the exports of a file of the project, or a promise of them. */
  load(path: string, isAsync: boolean): unknown {
    const known = this.cache[path];
    const isJson = path.endsWith(".json");
    if (known) return isJson ? known.exports : this.by.interop(known.exports);
    if (isJson) return this.loadJson(path);
    return this.isForNode(path, isAsync) ? this.loadByNode(path, isAsync) : this.loadOwn(path, isAsync);
  }

  private open(path: string): NodeJS.Module {
    const module = new Module(path);
    module.filename = path;
    this.cache[path] = module;
    return module;
  }

  private read(path: string): string {
    return this.by.project.read(path).toString("utf8").replace(BEFORE_CODE, "");
  }

  private loadJson(path: string): unknown {
    const parsed = parseJson(path, this.read(path));
    const isOpen = typeof parsed === "object" && parsed !== null && !("default" in parsed);
    if (isOpen) Object.defineProperty(parsed, "default", { value: parsed, enumerable: false });
    this.open(path).exports = parsed;
    return parsed;
  }

  private loadOwn(path: string, isAsync: boolean): unknown {
    const source = this.read(path);
    const code = this.compile(path, source, isAsync);
    const module = this.open(path);
    const finish = () => this.by.interop(assertCompiled(module));
    const fail = (thrown: unknown): never => {
      delete this.cache[path];
      throw thrown;
    };
    try {
      const done = this.run(module, code, { isAsync, isPlain: code === source });
      return isAsync ? Promise.resolve(done).then(finish).catch(fail) : finish();
    } catch (thrown) {
      return fail(thrown);
    }
  }

  private compile(filename: string, source: string, isAsync: boolean): string {
    const ts = TYPESCRIPT.test(filename);
    if (!ts && !/\bimport\b/.test(source) && isCommonJs(source)) return source;
    return this.by.compile({ source, filename, ts, async: isAsync, jsx: false, interopDefault: true }).code;
  }

  private run(
    module: NodeJS.Module,
    code: string,
    { isAsync, isPlain }: { isAsync: boolean; isPlain: boolean },
  ): unknown {
    const from = module.filename;
    const text = `(${isAsync ? "async " : ""}function (${PARAMETERS}) { ${code}\n})`;
    const require = this.requireFor(from);
    module.require = require;
    const load = async (specifier: unknown) => this.take({ specifier: String(specifier), from, mode: "import" });
    const find = (specifier: unknown) => this.addressOf({ specifier: String(specifier), from, mode: "import" });
    const call = (made: Compiled) =>
      made.call(isPlain ? module.exports : undefined, module.exports, require, module, from, dirname(from), load, find);
    let script: Script;
    try {
      script = new Script(text, { filename: from });
    } catch (thrown) {
      if (!isAsync) throw thrown;
      // What only a module may say, such as import.meta.main, compiles as one.
      const address = `data:text/javascript;base64,${Buffer.from(`export default ${text}`).toString("base64")}`;
      return import(address).then((evaluated: { default: Compiled }) => call(evaluated.default));
    }
    return call(script.runInThisContext() as Compiled);
  }

  private requireFor(from: string): NodeJS.Require {
    const native = createRequire(from);
    const ask = (specifier: unknown): Request => ({ specifier: String(specifier), from, mode: "require" });
    const resolve = (specifier: string, options?: { paths?: string[] }) => {
      const found = options ? undefined : this.by.project.find(ask(specifier));
      return found ?? native.resolve(specifier, options);
    };
    const require = (specifier: unknown) => this.take(ask(specifier));
    const { main, extensions } = native;
    return Object.assign(require, {
      resolve: Object.assign(resolve, native.resolve),
      cache: this.cache,
      main,
      extensions,
    });
  }

  /** Answers what a module of the project asks for: a promise where it imports. */
  private take(request: Request): unknown {
    const { project, jiti, lent } = this.by;
    const { specifier, mode } = request;
    const byJiti = (name: string) => (mode === "import" ? jiti.import(name) : (jiti(name) as unknown));
    if (specifier in lent) return byJiti(specifier);
    const found = project.locate(request);
    if ("path" in found) return this.load(found.path, mode === "import");
    if ("stray" in found) throw notAMember(found.stray, request);
    if ("builtin" in found || SCHEME.test(found.outside)) return byJiti(specifier);
    const path = this.findOutside(found.outside, request);
    const owner = projectOf(path);
    if (owner === project && project.has(path)) return this.load(path, mode === "import");
    if (owner && !owner.has(path) && !owner.admits()) throw notAMember(path, request);
    return byJiti(path);
  }

  private findOutside(name: string, request: Request): string {
    const { jiti, project } = this.by;
    const parentURL = pathToFileURL(project.outside).href;
    try {
      const found = jiti.esmResolve(name, { parentURL, conditions: ["node", request.mode] });
      return found.startsWith("file:") ? fileURLToPath(found) : found;
    } catch {
      throw missing(request);
    }
  }

  private addressOf(request: Request): string {
    const { jiti, project } = this.by;
    const found = project.find(request);
    if (found !== undefined) return project.kept.addressOf(found);
    const { specifier, from } = request;
    if (/^\.{0,2}\//.test(specifier)) return new URL(specifier, pathToFileURL(from)).href;
    return jiti.esmResolve(specifier, { parentURL: pathToFileURL(project.outside).href });
  }

  private isForNode(path: string, isAsync: boolean): boolean {
    if (!CODE.test(path) || path.endsWith(".cjs")) return isDependency(path) || !CODE.test(path);
    if (!isDependency(path) || TYPESCRIPT.test(path)) return false;
    if (path.endsWith(".mjs") || this.by.project.typeOf(path) === "module") return isAsync;
    return isCommonJs(this.read(path));
  }

  /** What Node cannot evaluate as it stands, jiti's way of compiling may make to do. */
  private loadByNode(path: string, isAsync: boolean): unknown {
    const retry = (thrown: unknown) => {
      if (isAgentError(thrown) || findNeeded(thrown) !== undefined || !CODE.test(path)) throw thrown;
      return this.loadOwn(path, isAsync);
    };
    const { by } = this;
    if (isAsync) return import(by.project.kept.addressOf(path)).then((exports) => by.interop(exports)).catch(retry);
    try {
      return by.interop(createRequire(path)(path));
    } catch (thrown) {
      return retry(thrown);
    }
  }
}

type Compiled = (this: unknown, ...given: unknown[]) => unknown;

/** The compiler hands a syntax error on as code that tells it. */
function assertCompiled({ exports }: NodeJS.Module): unknown {
  const told = (exports as { __JITI_ERROR__?: Record<string, string> } | undefined)?.__JITI_ERROR__;
  if (!told) return exports;
  const { code, message, filename, line, column } = told;
  throw new Error(`${code}: ${message} \n ${filename}:${line}:${column}`);
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new SyntaxError(`${path}: ${(thrown as Error).message}`, { cause: thrown });
  }
}
