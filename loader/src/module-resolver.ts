/**
 * Where an import leads: the importer's way of looking, over any view, so that the scan, which has only the project's
 * files, and the loading, which has only what was approved, find the same.
 *
 *   relative, absolute, file: ─► the file, an ending put to it, a folder's index
 *   name                      ─► node_modules from the importer up to the boundary ─► the package's own name
 *   #name                     ─► the package's `imports`
 *
 * Links are followed name by name, and never out of the boundary. What lies beyond it is not looked at.
 */
import { isBuiltin } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type FileKind, Refusal } from "./file-view.ts";
import { findExport, findImport, parseManifest } from "./package-maps.ts";
import { foldersUpTo, isInside } from "./places.ts";

/** What modules are looked up in. */
export interface ModuleView {
  kindOf(path: string): FileKind;
  read(path: string): Buffer;
  /** The target of a link, as it is written. */
  readLink(path: string): string;
}

export type Mode = "import" | "require";

export interface Request {
  specifier: string;
  /** The importing file's real path. */
  from: string;
  mode: Mode;
}

/** A file in the project · a module of Node's · what lies outside, a path or a name · nothing that is there. */
export type Resolved = { path: string } | { builtin: string } | { outside: string } | undefined;

/** What decided about a request beside the file: package.json files that were read, links that were followed. */
export interface Trace {
  manifests: Set<string>;
  links: Set<string>;
}

interface Asked extends Request {
  trace: Trace;
}

// What jiti puts to a name, and what Node does, in their order.
const CODE = [".js", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".mtsx", ".ctsx"];
const NATIVE = [".js", ".json", ".node"];
// As the systems themselves have it.
const MAX_LINKS = 40;
const MAX_PATH = 4_096;

const IMPORT = new Set(["node", "import"]);
const REQUIRE = new Set(["node", "require"]);
const NATIVE_IMPORT = new Set([...IMPORT, "module-sync", "node-addons"]);
const NATIVE_REQUIRE = new Set([...REQUIRE, "module-sync", "node-addons"]);

/** Tells whether a file is somebody's package, which Node evaluates, and no own file of an extension's. */
export function isDependency(path: string): boolean {
  return /[/\\]node_modules[/\\]/.test(path);
}

export function createTrace(): Trace {
  return { manifests: new Set(), links: new Set() };
}

/** Looks at each path once: what it answers holds for the moment when it was made. */
export class ModuleResolver {
  private readonly view: ModuleView;
  private readonly boundary: string;
  private readonly kinds = new Map<string, FileKind>();
  private readonly manifests = new Map<string, Record<string, unknown>>();

  constructor(view: ModuleView, boundary: string) {
    this.view = view;
    this.boundary = boundary;
  }

  /** Finds what a request leads to. Fails with a `Refusal` where a link leaves the project. */
  resolve(request: Request, trace = createTrace()): Resolved {
    const { specifier } = request;
    const asked = { ...request, trace };
    if (isBuiltin(specifier)) return { builtin: specifier };
    if (specifier.includes("\0")) return undefined;
    const paths = toPaths(request);
    if (paths) return this.findPath(paths, asked);
    if (/^(?:data|https?|node):/.test(specifier)) return { outside: specifier };
    return specifier.startsWith("#") ? this.findInternal(asked) : this.findByName(specifier, asked);
  }

  /** Reads the `type` that a package.json gives a file. */
  typeOf(path: string): unknown {
    const trace = createTrace();
    const scope = this.findScope(path, trace);
    return scope && this.manifestIn(scope, trace)?.type;
  }

  private findPath(paths: readonly string[], asked: Asked): Resolved {
    const inside = paths.filter((path) => isInside(path, this.boundary));
    for (const path of inside) {
      const found = this.pickFile(path, asked);
      if (found !== undefined) return { path: found };
    }
    return inside.length === 0 && paths[0] !== undefined ? { outside: paths[0] } : undefined;
  }

  private findByName(specifier: string, asked: Asked): Resolved {
    const [, name, rest = ""] = /^((?:@[^/]+\/)?[^/@.][^/]*)(\/.*)?$/.exec(specifier) ?? [];
    if (name === undefined || /[%\\]/.test(name)) return undefined;
    for (const folder of foldersUpTo(dirname(asked.from), this.boundary)) {
      if (basename(folder) === "node_modules") continue;
      const at = join(folder, "node_modules", name);
      const isPackage = this.realIf("folder", at, asked.trace) !== undefined;
      const found = isPackage ? this.findPackage(at, rest, asked) : this.pickFile(at + rest, asked);
      if (found !== undefined) return { path: found };
    }
    const scope = this.findScope(asked.from, asked.trace);
    const own = scope === undefined ? undefined : this.manifestIn(scope, asked.trace);
    const isOwn = own?.name === name && isExporting(own);
    const found = scope !== undefined && isOwn ? this.findPackage(scope, rest, asked) : undefined;
    return found === undefined ? { outside: specifier } : { path: found };
  }

  private findPackage(at: string, rest: string, asked: Asked): string | undefined {
    const folder = this.realIf("folder", at, asked.trace);
    if (folder === undefined) return undefined;
    const manifest = this.manifestIn(folder, asked.trace);
    if (!manifest || !isExporting(manifest)) {
      return rest === "" ? this.pickIndex(folder, asked) : this.pickFile(join(folder, rest), asked);
    }
    for (const conditions of conditionsFor(asked)) {
      const target = findExport(manifest.exports, `.${rest}`, conditions);
      const found = target === undefined ? undefined : this.fileAt(join(folder, decode(target)), asked.trace);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  private findInternal(asked: Asked): Resolved {
    const scope = this.findScope(asked.from, asked.trace);
    if (scope === undefined) return undefined;
    const from = join(scope, "package.json");
    for (const conditions of conditionsFor(asked)) {
      const target = findImport(this.manifestIn(scope, asked.trace)?.imports, asked.specifier, conditions);
      if (target === undefined) continue;
      if (isBuiltin(target)) return { builtin: target };
      if (!target.startsWith("./")) return this.findByName(target, { ...asked, from });
      const found = this.fileAt(join(scope, decode(target)), asked.trace);
      if (found !== undefined) return { path: found };
    }
    return undefined;
  }

  /** The folder of the package.json that holds for a file. */
  private findScope(path: string, trace: Trace): string | undefined {
    for (const folder of foldersUpTo(dirname(path), this.boundary)) {
      if (basename(folder) === "node_modules") return undefined;
      if (this.manifestIn(folder, trace)) return folder;
    }
    return undefined;
  }

  private manifestIn(folder: string, trace: Trace): Record<string, unknown> | undefined {
    const path = this.fileAt(join(folder, "package.json"), trace);
    if (path === undefined) return undefined;
    trace.manifests.add(path);
    let manifest = this.manifests.get(path);
    if (!manifest) {
      manifest = parseManifest(this.view.read(path));
      this.manifests.set(path, manifest);
    }
    return manifest;
  }

  private pickFile(path: string, asked: Asked): string | undefined {
    const direct = this.fileAt(path, asked.trace);
    if (direct !== undefined) return direct;
    const isNative = isDependency(asked.from) && asked.mode === "require";
    const byCode = () => this.firstOf(path, CODE, asked.trace) ?? this.indexIn(path, CODE, asked.trace);
    const byNode = () => this.firstOf(path, NATIVE, asked.trace) ?? this.pickIndex(path, asked);
    const found = isNative ? (byNode() ?? byCode()) : (byCode() ?? byNode());
    if (found !== undefined) return found;
    // TypeScript names the file that it would become.
    const source = path.replace(/\.([cm]?)j(sx?)$/, ".$1t$2");
    return source === path ? undefined : this.fileAt(source, asked.trace);
  }

  /** What stands for a folder: its `main`, else an index. */
  private pickIndex(at: string, { trace }: Asked): string | undefined {
    const folder = this.realIf("folder", at, trace);
    if (folder === undefined) return undefined;
    const main = this.manifestIn(folder, trace)?.main;
    const path = typeof main === "string" && !main.includes("\0") ? join(folder, main) : folder;
    const isNamed = path !== folder;
    const found = isNamed
      ? (this.firstOf(path, ["", ...NATIVE], trace) ?? this.indexIn(path, NATIVE, trace))
      : undefined;
    return found ?? this.indexIn(folder, [...NATIVE, ...CODE], trace);
  }

  private indexIn(path: string, ends: readonly string[], trace: Trace): string | undefined {
    const folder = this.realIf("folder", path, trace);
    return folder === undefined ? undefined : this.firstOf(join(folder, "index"), ends, trace);
  }

  private firstOf(path: string, ends: readonly string[], trace: Trace): string | undefined {
    const parent = path === this.boundary ? undefined : this.realIf("folder", dirname(path), trace);
    if (parent === undefined) return undefined;
    const start = join(parent, basename(path));
    for (const end of ends) {
      const kind = this.kindOf(start + end);
      const found = kind === "link" ? this.fileAt(start + end, trace) : start + end;
      if (found !== undefined && (kind === "file" || kind === "link")) return found;
    }
    return undefined;
  }

  /** The real path of a file; `undefined` where no regular file is. */
  private fileAt(path: string, trace: Trace): string | undefined {
    return this.realIf("file", path, trace);
  }

  /** Follows the links on the way to a path; `undefined` where nothing is. */
  private realOf(path: string, trace: Trace, links = 0): string | undefined {
    if (path === this.boundary) return path;
    if (path.length > MAX_PATH) return undefined;
    if (!isInside(path, this.boundary)) {
      if (links === 0) return undefined;
      throw new Refusal(`is reached through a link that leaves the project: ${[...trace.links].at(-1)}`);
    }
    const parent = this.realOf(dirname(path), trace, links);
    if (parent === undefined || this.kindOf(parent) !== "folder") return undefined;
    const at = join(parent, basename(path));
    const kind = this.kindOf(at);
    if (kind === "missing") return undefined;
    if (kind !== "link") return at;
    trace.links.add(at);
    return links === MAX_LINKS ? undefined : this.realOf(resolve(parent, this.view.readLink(at)), trace, links + 1);
  }

  private realIf(kind: FileKind, path: string, trace: Trace): string | undefined {
    const real = this.realOf(path, trace);
    return real !== undefined && this.kindOf(real) === kind ? real : undefined;
  }

  private kindOf(path: string): FileKind {
    let kind = this.kinds.get(path);
    if (kind === undefined) {
      kind = this.view.kindOf(path);
      this.kinds.set(path, kind);
    }
    return kind;
  }
}

/** The paths that a specifier may mean, the likelier first; `undefined` for a name. */
function toPaths({ specifier, from, mode }: Request): string[] | undefined {
  const isUrl = /^file:/i.test(specifier);
  if (!isUrl && !/^(?:\/|\.{1,2}(?:\/|$))/.test(specifier)) return undefined;
  const plain = isUrl ? [] : [resolve(dirname(from), specifier)];
  // As an address it is the same path, but for these.
  const asUrl = isUrl || /[%?#\\\s]/.test(specifier) ? urlToPath(specifier, from) : [];
  const ways = mode === "import" ? [...asUrl, ...plain] : [...plain, ...asUrl];
  return [...new Set(ways.map((path) => path.replace(/(?<=.)\/$/, "")))];
}

function urlToPath(specifier: string, from: string): string[] {
  try {
    return [fileURLToPath(new URL(specifier, pathToFileURL(from)))];
  } catch {
    return [];
  }
}

/** The sets of conditions that a package may be asked with, first come first served. */
function conditionsFor({ from, mode }: Request): ReadonlySet<string>[] {
  const own = mode === "import" ? [IMPORT, REQUIRE] : [REQUIRE, IMPORT];
  if (!isDependency(from)) return own;
  return mode === "import" ? [NATIVE_IMPORT, ...own] : [NATIVE_REQUIRE, ...own];
}

function isExporting({ exports }: Record<string, unknown>): boolean {
  return exports !== undefined && exports !== null;
}

function decode(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}
