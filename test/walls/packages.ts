/** The workspace as data: every package with its manifest, its sources, and what those import. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { parseSync } from "oxc-parser";

export const ROOT = join(import.meta.dirname, "../..");

export interface Manifest {
  name: string;
  private?: boolean;
  exports?: Record<string, unknown>;
  pi?: { extensions?: string[] };
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

export interface Import {
  from: string;
  specifier: string;
  isType: boolean;
}

export interface Package {
  name: string;
  /** Relative to the root, with `/`. */
  folder: string;
  /** The first part of the folder: kernel, loader, cli, extensions, skills, test, docs. */
  room: string;
  manifest: Manifest;
  sources: string[];
  imports: Import[];
  hasDefaultExport(source: string): boolean;
}

export function readPackages(): Package[] {
  const manifests = globSync(
    ["kernel", "loader", "cli", "skills", "extensions/*", "test/kit", "docs/examples/*"].map(
      (each) => `${each}/package.json`,
    ),
    { cwd: ROOT },
  );
  return manifests.map((path) => readPackage(dirname(path)));
}

function readPackage(folder: string): Package {
  const manifest = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")) as Manifest;
  const sources = globSync("src/**/*.ts", { cwd: join(ROOT, folder) }).map((source) => toSlashes(join(folder, source)));
  const parsed = new Map(
    sources.map((source) => [source, parseSync(source, readFileSync(join(ROOT, source), "utf8"))]),
  );
  const imports = [...parsed].flatMap(([from, { module }]) => [
    ...module.staticImports.map(({ moduleRequest, entries }) => ({
      from,
      specifier: moduleRequest.value,
      isType: entries.length > 0 && entries.every(({ isType }) => isType),
    })),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, isType }) =>
        moduleRequest ? [{ from, specifier: moduleRequest.value, isType }] : [],
      ),
    ),
    ...module.dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
      const written = readFileSync(join(ROOT, from), "utf8").slice(start, end);
      // What is computed names no package.
      return /^["'`]/.test(written) ? [{ from, specifier: written.slice(1, -1), isType: false }] : [];
    }),
  ]);
  return {
    name: manifest.name,
    folder: toSlashes(folder),
    room: toSlashes(folder).split("/")[0]!,
    manifest,
    sources,
    imports,
    hasDefaultExport: (source) =>
      parsed
        .get(source)!
        .module.staticExports.some(({ entries }) => entries.some(({ exportName }) => isDefault(exportName))),
  };
}

function isDefault({ kind }: { kind: string }): boolean {
  return kind === "Default";
}

/** The package that a specifier names, without its subpath; nothing for relative and built-in ones. */
export function packageOf(specifier: string): string | undefined {
  if (specifier.startsWith(".") || specifier.startsWith("node:")) return undefined;
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function toSlashes(path: string): string {
  return relative(ROOT, join(ROOT, path)).split(sep).join("/");
}
