/** Works out which packages a package needs, and at which places below it: npm's own answer, without its installing. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { PackageContext } from "./context.ts";
import { wordFetchFault, wordTooYoung } from "./fetch-error.ts";
import type { LockedPackage } from "./lock-file.ts";
import type { NpmOptions } from "./npmrc.ts";
import { codeOf, wordUnsafe } from "./package-error.ts";
import { assertIntegrity, withoutCredentials } from "./registry.ts";
import { withScratch } from "./scratch.ts";

type Dependencies = LockedPackage["dependencies"];

/** What a package asks for, without what comes from the host. */
export interface Wanted {
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
}

const EXOTIC = /^EALLOW/;

/** Resolves what a package wants. Nothing is installed; peers are not added, since those of the host are lent. */
export async function resolveDependencies(
  context: PackageContext,
  options: NpmOptions,
  { name, wanted }: { name: string; wanted: Wanted },
): Promise<Dependencies> {
  if (Object.keys(wanted.dependencies).length + Object.keys(wanted.optionalDependencies).length === 0) return {};
  const before = context.minimumReleaseAgeMs ? new Date(Date.now() - context.minimumReleaseAgeMs) : undefined;
  try {
    const nodes = await withScratch(context, (folder) => planTree(folder, { ...options, before }, wanted));
    return toDependencies(name, nodes);
  } catch (cause) {
    throw wordTreeFault(name, cause, context);
  }
}

async function planTree(folder: string, options: NpmOptions & { before?: Date }, wanted: Wanted): Promise<TreeNode[]> {
  const { default: Arborist } = await import("@npmcli/arborist");
  await writeFile(join(folder, "package.json"), JSON.stringify({ name: "wanted", version: "0.0.0", ...wanted }));
  const arborist = new Arborist({
    ...options,
    path: folder,
    legacyPeerDeps: true,
    packageLock: false,
    installLinks: true,
    progress: false,
  });
  const tree = await arborist.buildIdealTree({ saveType: "prod" });
  return [...tree.inventory.values()];
}

interface TreeNode {
  isRoot: boolean;
  isLink: boolean;
  inBundle?: boolean;
  name: string;
  location: string;
  resolved: string | null;
  integrity: string | null;
  optional?: boolean;
  /** Why nothing is known of it; whoever wants it can do without, or there would be no tree. */
  errors: readonly Error[];
  package: { name?: string; version?: string; os?: unknown; cpu?: unknown; libc?: unknown };
}

function toDependencies(name: string, nodes: readonly TreeNode[]): Dependencies {
  const dependencies: Dependencies = {};
  // What is bundled is in the tarball of the package that bundles it.
  for (const node of nodes.filter(({ isRoot, inBundle, errors }) => !isRoot && !inBundle && errors.length === 0)) {
    const { name: own = node.name, version } = node.package;
    if (node.isLink || node.resolved === null || version === undefined || !/^https?:/.test(node.resolved)) {
      throw wordExotic(name, node.name);
    }
    dependencies[node.location] = {
      ...(own === node.name ? {} : { name: own }),
      version,
      resolved: withoutCredentials(node.resolved),
      integrity: assertIntegrity(own, node.integrity),
      ...machinesOf(node.package),
      ...(node.optional ? { optional: true } : {}),
    };
  }
  return dependencies;
}

function machinesOf(manifest: TreeNode["package"]): Pick<Dependencies[string], "os" | "cpu" | "libc"> {
  const lists = (["os", "cpu", "libc"] as const).flatMap((key): [string, string[]][] => {
    const value = manifest[key];
    const list = typeof value === "string" ? [value] : value;
    return Array.isArray(list) && list.length > 0 ? [[key, list.map(String)]] : [];
  });
  return Object.fromEntries(lists);
}

/** Tells whether a dependency is for this machine. */
export function isForThisMachine({ os, cpu, libc }: Dependencies[string]): boolean {
  return fits(os, process.platform) && fits(cpu, process.arch) && (libc === undefined || fits(libc, libcOf()));
}

/** A list allows names, or with `!` all but some. */
function fits(list: readonly string[] | undefined, here: string): boolean {
  if (list === undefined || list.length === 0 || list.includes("any")) return true;
  if (list.includes(`!${here}`)) return false;
  const allowed = list.filter((each) => !each.startsWith("!"));
  return allowed.length === 0 || allowed.includes(here);
}

function libcOf(): string {
  if (process.platform !== "linux") return "none";
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return report.header?.glibcVersionRuntime === undefined ? "musl" : "glibc";
}

function wordTreeFault(name: string, cause: unknown, { signal, minimumReleaseAgeMs: minimum }: PackageContext): Error {
  const code = codeOf(cause);
  if (EXOTIC.test(code)) return wordExotic(name, packageOf(cause));
  // Versions that are too young are not offered; where nothing else is in the range, there is none.
  if (minimum && code === "ETARGET")
    return wordTooYoung(name, "what it needs has no version that is old enough", minimum);
  return wordFetchFault(`What ${name} needs`, cause, signal);
}

function wordExotic(name: string, dependency: string): Error {
  return wordUnsafe(
    name,
    `its dependency ${dependency} comes from no registry, so nothing says that it stays the same`,
  );
}

function packageOf(cause: unknown): string {
  const named: unknown = cause instanceof Error && "package" in cause ? cause.package : undefined;
  return typeof named === "string" ? named : "one of them";
}
