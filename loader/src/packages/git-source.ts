/** Sources that are git repositories, in all their spellings. */

import { wordSource } from "./package-error.ts";
import type { PackageSource } from "./source.ts";

const HINT = "Write git:host/owner/repo@ref, https://host/owner/repo@ref or git@host:owner/repo@ref.";
const SCP = /^([\w.-]+)@([\w.-]+):(?!\/\/)([^/].*)$/;
const REPOSITORY_NAME = /^[\w.~+@ -]+$/;
const FULL_COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

interface Address {
  /** The scheme with what leads to the host; the path is kept apart. */
  prefix: string;
  host: string;
  path: string;
}

interface Picked {
  ref?: string;
  range?: string;
  subfolder?: string;
}

/** Parses a source that names a repository. Fails with `package_source`. */
export function parseGit(text: string): PackageSource {
  const refuse = (why: string, hint = HINT) => wordSource(text, why, hint);
  const { address, committish } = split(text, refuse);
  const { prefix, host } = address;
  const path = address.path.replace(/\/+$/, "");
  const bare = path.replace(/\.git$/i, "").replace(/^\/+/, "");
  if (prefix !== "file://") assertPath(bare, refuse);
  if (/\.(?:tgz|tar\.gz)$/i.test(path)) {
    throw refuse("it is the address of a tarball", "Download it, then install the file: ./name.tgz");
  }
  const picked = parseCommittish(committish, refuse);
  const repository = prefix === "file://" ? `file:///${bare}` : `${toHostKey(prefix, host)}/${bare}`;
  const below = picked.subfolder === undefined ? "" : `::${picked.subfolder}`;
  return { kind: "git", url: prefix + host + path, repository, ...picked, identity: `git:${repository}${below}` };
}

/** Tells whether a ref is a whole commit, which nothing can move. */
export function isFullCommit(ref: string): boolean {
  return FULL_COMMIT.test(ref);
}

/** The host however it is reached: without the separator and without a port that goes without saying. */
function toHostKey(prefix: string, host: string): string {
  const usual = prefix.startsWith("https") ? ":443" : ":22";
  const bare = host.slice(0, -1).toLowerCase();
  return bare.endsWith(usual) ? bare.slice(0, -usual.length) : bare;
}

type Refuse = (why: string, hint?: string) => Error;

function split(text: string, refuse: Refuse): { address: Address; committish: string } {
  const bare = text.replace(/^git:(?!\/\/)/i, "").replace(/^git\+/i, "");
  const github = /^github:(.+)$/i.exec(bare)?.[1];
  if (github !== undefined) return splitPath(github, { prefix: "https://", host: "github.com/" });
  const scp = SCP.exec(bare);
  if (scp) return splitPath(scp[3] ?? "", { prefix: `${scp[1]}@`, host: `${scp[2]}:` });
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(bare)) return splitUrl(bare, refuse);
  const [host = "", ...path] = bare.split("/");
  if (!/^(?:[\w-]+\.)+[\w-]+(?::\d+)?$|^localhost(?::\d+)?$/.test(host)) throw refuse("it names no host");
  return splitPath(path.join("/"), { prefix: "https://", host: `${host}/` });
}

function splitUrl(text: string, refuse: Refuse): { address: Address; committish: string } {
  const [, scheme = "", authority = "", path = ""] = /^([a-z][a-z\d+.-]*):\/\/([^/]*)\/*(.*)$/i.exec(text) ?? [];
  const protocol = scheme.toLowerCase();
  if (protocol === "http" || protocol === "git") {
    throw refuse(
      "whoever is on the way can change what it brings",
      `Use https instead: https://${hostOf(authority)}/…`,
    );
  }
  if (!["https", "ssh", "file"].includes(protocol)) throw refuse("git is not reached that way here");
  const at = authority.lastIndexOf("@");
  const user = authority.slice(0, Math.max(at, 0));
  if (user.includes(":") || (user !== "" && protocol !== "ssh")) {
    throw refuse("it holds credentials", "Leave them out: git asks its credential helper, or uses your SSH key.");
  }
  if (protocol === "file") {
    if (authority !== "") throw refuse("a file: address names no host");
    return splitPath(`/${path}`, { prefix: "file://", host: "" });
  }
  const host = authority.slice(at + 1);
  if (!/^[\w.-]+(?::\d+)?$/.test(host) || host.startsWith("-") || user.startsWith("-"))
    throw refuse("it names no host");
  if (path.includes("?")) throw refuse("a repository's address has no query");
  return splitPath(path, { prefix: `${protocol}://${user === "" ? "" : `${user}@`}`, host: `${host}/` });
}

function hostOf(authority: string): string {
  return authority.slice(authority.lastIndexOf("@") + 1);
}

/** A ref follows `#`, else `.git@`, else the first `@` of the path. */
function splitPath(text: string, { prefix, host }: Pick<Address, "prefix" | "host">) {
  const hash = text.indexOf("#");
  const named = text.indexOf(".git@");
  const first = text.indexOf("@");
  const at = hash !== -1 ? hash : named !== -1 ? named + 4 : first;
  const [path, committish] = at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
  return { address: { prefix, host, path }, committish };
}

function assertPath(path: string, refuse: Refuse): void {
  const parts = decode(path).split("/");
  if (parts.length < 2 || parts.some((part) => part === "")) throw refuse("its path has no owner and repository");
  if (parts.some((part) => /^\.+$/.test(part))) throw refuse("its path leads somewhere else");
  if (!parts.every((part) => REPOSITORY_NAME.test(part) && !part.startsWith("-"))) {
    throw refuse("its path has characters that no repository has");
  }
}

function parseCommittish(text: string, refuse: Refuse): Picked {
  const picked: Picked = {};
  for (const part of text.split("::").filter((each) => each !== "")) {
    const [, key, value] = /^(semver|path):(.*)$/.exec(part) ?? [];
    if (key === "path") picked.subfolder = toSubfolder(value ?? "", refuse);
    else if (key === "semver") picked.range = toRange(decode(value ?? ""), refuse);
    else picked.ref = toRef(part, refuse);
  }
  if (picked.ref !== undefined && picked.range !== undefined) throw refuse("it names a ref and a range");
  return picked;
}

function toSubfolder(text: string, refuse: Refuse): string {
  const parts = decode(text)
    .split("/")
    .filter((part) => part !== "" && part !== ".");
  if (parts.length === 0 || parts.includes("..") || !parts.every((part) => REPOSITORY_NAME.test(part))) {
    throw refuse("its folder leads out of the repository");
  }
  return parts.join("/");
}

function toRange(text: string, refuse: Refuse): string {
  if (!/^[\dA-Za-z\s.*^~<>=|+-]+$/.test(text) || text.startsWith("-")) throw refuse("its range is none");
  return text;
}

/** What git itself takes for a name: what begins with a dash would be an option to it. */
function toRef(text: string, refuse: Refuse): string {
  const ref = decode(text);
  const isBad = /^[-/.]|[\s~^:?*[\\\p{Cc}]|\.\.|\/\/|@\{|\.lock(?:\/|$)|[/.]$/u.test(ref);
  if (isBad || ref.split("/").some((part) => part.startsWith("."))) throw refuse("its ref is none that git has");
  return ref;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
