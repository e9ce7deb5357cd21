/**
 * What a person, or a settings file, means by a package source. A source is data and never an option; it has one
 * meaning, the same after it was saved and read again.
 *
 *   npm:name[@version|range|tag] · @scope/name             registry
 *   git:host/path[@ref] · https://… · ssh://… · git@host:… · file://….git     git
 *   ./path · ../path · /path · ~/path · .name/path          in place, or a tarball where it ends in .tgz
 */
import { isAbsolute, relative, resolve, sep } from "node:path";
import { isAgentError } from "@pi-agent/kernel";
import { realPathOf, resolveFrom } from "../places.ts";
import { parseGit } from "./git-source.ts";
import { wordSource } from "./package-error.ts";
import { findNameFault } from "./package-name.ts";

export interface NpmSource {
  kind: "npm";
  name: string;
  /** A version, a range or a tag; empty is the tag `latest`. */
  spec: string;
  how: "exact" | "range" | "tag";
}

export interface GitSource {
  kind: "git";
  /** Where git fetches from, without ref and without credentials. */
  url: string;
  /** Host and path, however the repository is reached. */
  repository: string;
  /** A branch, a tag or a commit as it was written. */
  ref?: string;
  /** Chooses the highest tag in a range. */
  range?: string;
  /** The package's folder in the repository. */
  subfolder?: string;
}

/** A file or folder that is loaded where it is, or a tarball. */
export interface LocalSource {
  kind: "local" | "tarball";
  /** Absolute. */
  path: string;
  /** As it was written. */
  written: string;
}

export type PackageSource = (NpmSource | GitSource | LocalSource) & {
  /** The same for every spelling of one package. */
  identity: string;
};

/** What relative paths and `~` are resolved against. */
export interface SourceBase {
  folder: string;
  home: string;
}

// Directions of text and what cannot be seen count as control characters: they could hide what is installed.
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const MAX_LENGTH = 1_000;
const NPM_HINT = "Write npm:name, npm:@scope/name@1.2.3, npm:name@^1.0 or npm:name@tag.";
const EXACT = /^v?(\d+\.\d+\.\d+(?:-[\w.-]+)?(?:\+[\w.-]+)?)$/;
const TAG = /^[A-Za-z][\w.-]*$/;
const RANGE = /^[\dA-Za-z\s.*^~<>=|+-]+$/;
const LOCAL = /^(?:\.{1,2}$|\.{0,2}\/|~(?:\/|$)|\.[\w-])/;
const WINDOWS = /^(?:[A-Za-z]:[\\/]|\\\\)/;
const TARBALL = /\.(?:tgz|tar\.gz)$/i;
const ANY_GIT = /^(?:git:|git\+|github:|https?:|ssh:|file:|[\w.-]+@[\w.-]+:)/i;

/** Parses a source. Fails with `package_source`. */
export function parseSource(text: string, base: SourceBase): PackageSource {
  const trimmed = text.trim();
  const fault = findFault(trimmed);
  if (fault !== undefined) throw wordSource(text, fault, "Write it anew, by hand.");
  if (WINDOWS.test(trimmed) && process.platform !== "win32") {
    throw wordSource(text, "it is a path of Windows", "Name a path of this machine, as ./name or /folder/name.");
  }
  if (trimmed.startsWith("npm:")) return parseNpm(text, trimmed.slice(4));
  if (/^file:/i.test(trimmed) && !/\.git(?:[@#]|$)/.test(trimmed)) return parseFileUrl(text, base);
  if (ANY_GIT.test(trimmed)) return parseGit(trimmed);
  if (LOCAL.test(trimmed) || isAbsolute(trimmed)) return parseLocal(trimmed, base);
  if (trimmed.startsWith("@")) return parseNpm(text, trimmed);
  throw wordSource(text, "it may mean a package of npm, a repository or a folder", wordChoices(trimmed));
}

/** Writes a source so that it means the same in a settings file of `folder`, and to Pi as far as Pi knows it. */
export function formatSource(source: PackageSource, folder: string): string {
  if (source.kind === "npm") return `npm:${source.name}${source.spec === "" ? "" : `@${source.spec}`}`;
  if (source.kind !== "git") return formatLocal(source, folder);
  const { url, ref, range, subfolder } = source;
  const base = /^(?:https|ssh):/.test(url) ? url : `git:${url}`;
  const picked = [ref, range && `semver:${range}`, subfolder && `path:${subfolder}`].filter((part) => part);
  if (picked.length === 0) return base;
  return ref !== undefined && !subfolder ? `${base}@${ref}` : `${base}#${picked.join("::")}`;
}

function formatLocal({ written, path }: LocalSource, folder: string): string {
  if (isAbsolute(written) || written.startsWith("~")) return written;
  const below = relative(folder, path).split(sep).join("/") || ".";
  return /^\.{1,2}(?:\/|$)/.test(below) ? below : `./${below}`;
}

function findFault(text: string): string | undefined {
  if (text === "") return "it is empty";
  if (text.length > MAX_LENGTH) return "it is too long";
  if (CONTROL.test(text)) return "it holds characters that cannot be seen";
  if (/^(?:\w+:)?-/.test(text)) return "it begins with a dash, as an option does";
  return undefined;
}

function parseNpm(text: string, rest: string): PackageSource {
  const at = rest.indexOf("@", 1);
  const name = at === -1 ? rest : rest.slice(0, at);
  const spec = (at === -1 ? "" : rest.slice(at + 1)).trim();
  const fault = findNameFault(name);
  if (fault !== undefined) throw wordSource(text, `its name ${fault}`, NPM_HINT);
  if (at !== -1 && spec === "") throw wordSource(text, "nothing follows the @", NPM_HINT);
  const exact = EXACT.exec(spec)?.[1];
  const shared = { kind: "npm", name, identity: `npm:${name}` } as const;
  if (exact !== undefined) return { ...shared, spec: exact, how: "exact" };
  if (spec === "" || (TAG.test(spec) && !/^[xX]$/.test(spec))) return { ...shared, spec, how: "tag" };
  if (!RANGE.test(spec) || spec.startsWith("-")) {
    throw wordSource(text, "what follows the @ is no version, range or tag", NPM_HINT);
  }
  return { ...shared, spec, how: "range" };
}

function parseFileUrl(text: string, base: SourceBase): PackageSource {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    throw wordSource(text, "it is no valid address", "Write the path itself: /folder/name.");
  }
  if (url.host !== "" || url.search !== "" || url.hash !== "") {
    throw wordSource(text, "it names more than a path of this machine", "Write the path itself: /folder/name.");
  }
  return parseLocal(decodeURIComponent(url.pathname), base);
}

function parseLocal(written: string, { folder, home }: SourceBase): PackageSource {
  const path = resolve(resolveFrom(folder, written, home));
  const kind = TARBALL.test(path) ? "tarball" : "local";
  return { kind, path, written, identity: `${kind}:${realPathOf(path)}` };
}

function wordChoices(text: string): string {
  const choices = [`./${text} for a folder`];
  if (findNameFault(text.replace(/(?!^)@.*$/, "")) === undefined) choices.push(`npm:${text} for a package of npm`);
  if (/^[\w.-]+\/[\w.-]+(?:[@#].*)?$/.test(text)) choices.push(`git:github.com/${text} for a repository`);
  return `Say which: ${choices.join(", ")}.`;
}

/** What tells a package from all others; `undefined` for what is no source, such as the bare name of one. */
export function identityOf(text: string, base: SourceBase): string | undefined {
  try {
    return parseSource(text, base).identity;
  } catch (thrown) {
    if (isAgentError(thrown)) return undefined;
    throw thrown;
  }
}
