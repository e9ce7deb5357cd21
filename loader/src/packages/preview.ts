/** What a person is told about a package before it is installed (P5). */
import { toPrintable } from "../printable.ts";
import { type PackageContents, RESOURCE_LISTS } from "./contents.ts";
import type { PackageContext } from "./context.ts";
import type { LockedPackage } from "./lock-file.ts";
import type { Staged } from "./stage.ts";

/** What is absent is not known: nobody tells it. */
export interface PackagePreview {
  identity: string;
  /** As it will stand in the settings. */
  source: string;
  name: string;
  version?: string;
  /** Where it comes from; for git with the commit. */
  resolved: string;
  /** The version or commit that is installed now. */
  from?: string;
  publisher?: string;
  publishedAt?: string;
  deprecated?: string;
  /** Bytes on disk, with dependencies; a folder that is loaded in place has none. */
  size?: number;
  dependencies: number;
  contents: PackageContents;
  capabilities: string[];
  /** What it declares now and did not before, and the reverse. */
  capabilitiesAdded: string[];
  capabilitiesRemoved: string[];
  /** Packages that want to run scripts while they are installed, and whether they may. */
  scripts: { name: string; commands: string[]; isAllowed: boolean }[];
  /** Packages of the host that it brings along, and that are not used. */
  bundledHosts: string[];
  /** Host packages that it needs and that nobody lends. */
  missingHosts: string[];
  /** Why updates leave it as it is. */
  pinned?: string;
}

/** Makes the preview of what was put together. `before` is what is locked of the same package. */
export function previewOf(context: PackageContext, staged: Staged, before?: LockedPackage): PackagePreview {
  const { identity, locked, manifest, contents, size, scripted, version, pinned } = staged;
  const { source, name, resolved, capabilities } = locked;
  const known = before?.capabilities ?? [];
  return {
    identity,
    source,
    name,
    version: locked.version,
    resolved,
    size,
    contents,
    capabilities,
    from: before && versionOf(before),
    publisher: version?.publisher,
    publishedAt: version?.publishedAt,
    deprecated: version?.deprecated,
    dependencies: Object.keys(locked.dependencies).length,
    capabilitiesAdded: before ? capabilities.filter((each) => !known.includes(each)) : [],
    capabilitiesRemoved: known.filter((each) => !capabilities.includes(each)),
    scripts: scripted.map((each) => ({
      name: each.name,
      commands: each.commands.map(({ event, command }) => `${event}: ${command}`),
      isAllowed: locked.scripts.includes(each.name),
    })),
    bundledHosts: manifest.bundledHosts,
    missingHosts: findMissingHosts(context, manifest.hostPeers),
    pinned,
  };
}

/** Which host packages nobody lends. */
export function findMissingHosts(
  { isLent, hostVersions }: PackageContext,
  hostPeers: Record<string, string>,
): string[] {
  return Object.keys(hostPeers).filter(
    (name) => !name.startsWith("@pi-agent/") && hostVersions[name] === undefined && !isLent(name),
  );
}

/** The version, for git with the commit; for git alone the commit. */
export function versionOf({ version, commit }: Pick<LockedPackage, "version" | "commit">): string {
  return [version, commit?.slice(0, 12)].filter((part) => part !== undefined).join(" ") || "unknown";
}

const LABELS = {
  extensions: "(run code)",
  skills: "(instruct the model)",
  prompts: "(words to begin with)",
  themes: "(colours)",
} as const;

/** Words a preview, a line each. What nobody tells is "unknown". */
export function wordPreview(preview: PackagePreview): string[] {
  const { name, version, from, source, resolved, publisher, publishedAt, size, dependencies, contents, capabilities } =
    preview;
  const fact = (label: string, value: string | undefined) => `  ${label.padEnd(14)}${toPrintable(value ?? "unknown")}`;
  const held = RESOURCE_LISTS.filter((list) => contents[list].length > 0);
  return [
    toPrintable(`${name} ${version ?? "(no version)"}${from === undefined ? "" : `, in place of ${from}`}`),
    fact("source", source),
    ...(resolved === "" ? [] : [fact("from", resolved)]),
    fact("publisher", publisher),
    fact("published", publishedAt && wordTime(publishedAt)),
    fact("size", size === undefined ? undefined : wordSize(size)),
    fact("dependencies", String(dependencies)),
    ...held.map((list) =>
      fact(
        "contains",
        `${wordNumber(contents[list].length, list)} ${LABELS[list]}: ${contents[list].map(({ path }) => path).join(", ")}`,
      ),
    ),
    ...(held.length === 0 ? [fact("contains", "nothing that can be loaded")] : []),
    fact("says it uses", capabilities.join(", ") || "nothing"),
    ...wordWarnings(preview).map((line) => `  ${toPrintable(line)}`),
  ];
}

function wordWarnings(preview: PackagePreview): string[] {
  const {
    deprecated,
    capabilitiesAdded: added,
    capabilitiesRemoved: removed,
    scripts,
    bundledHosts,
    missingHosts,
    pinned,
  } = preview;
  return [
    ...(deprecated === undefined ? [] : [`deprecated: ${deprecated}`]),
    ...(added.length === 0 ? [] : [`new: it says it uses ${added.join(", ")}`]),
    ...(removed.length === 0 ? [] : [`gone: it no longer says it uses ${removed.join(", ")}`]),
    ...scripts.map(({ name, commands, isAllowed }) => {
      const what = `${name} wants to run ${commands.join("; ")}`;
      return isAllowed ? `${what} (allowed)` : `${what} (not run; --allow-scripts=${name} allows it)`;
    }),
    ...bundledHosts.map((each) => `it brings its own ${each}; the host's is used`),
    ...missingHosts.map((each) => `it needs ${each}, which nothing here lends: what imports it will not load`),
    ...(pinned === undefined ? [] : [`updates leave it as it is: ${pinned}`]),
  ];
}

function wordNumber(number: number, list: string): string {
  return `${number} ${number === 1 ? list.slice(0, -1) : list}`;
}

/** Registries tell it as ISO 8601, to the microsecond some of them. */
function wordTime(time: string): string {
  const [, day, minute] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)\S*(?:Z|[+-]00:00)$/.exec(time) ?? [];
  return day === undefined ? time : `${day} ${minute} UTC`;
}

function wordSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
