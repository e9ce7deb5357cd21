/**
 * Packages from git: what a ref means, and the files of a commit as a tar archive. No working copy is made, and nothing
 * of the repository runs: no hooks, no filters of its own, no submodules.
 *
 *   ls-remote ─► commit ─► fetch into an empty repository ─► archive ─► kept in the cache by commit
 */
import { createHash } from "node:crypto";
import { mkdir, readFile, rename } from "node:fs/promises";
import { devNull } from "node:os";
import { dirname, join, parse } from "node:path";
import { exec } from "../exec.ts";
import { cacheOf, type PackageContext } from "./context.ts";
import { wordGit, wordNoRef } from "./fetch-error.ts";
import { isFullCommit } from "./git-source.ts";
import { withScratch } from "./scratch.ts";
import type { GitSource } from "./source.ts";

/** What a ref means now. `isPinned`: nothing moves it, or it is meant not to move. */
export interface ResolvedRef {
  commit: string;
  kind: "branch" | "tag" | "commit" | "default" | "range";
  isPinned: boolean;
}

const TIMEOUT_MS = 120_000;
// No folder of anybody, so that git looks for no repository around it.
const ROOT = parse(process.execPath).root;
// Where git is told that it already is somewhere, or from whom it takes its settings.
const LEFT_OUT =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX|EXTERNAL_DIFF|TEMPLATE_DIR|EXEC_PATH|SHALLOW_FILE)$/;

/** Asks a repository which commit is meant. Fails with `package_not_found`, `package_unreachable` and `package_source`. */
export async function resolveRef(context: PackageContext, source: GitSource): Promise<ResolvedRef> {
  const { ref, range } = source;
  if (ref !== undefined && isFullCommit(ref)) return { commit: ref, kind: "commit", isPinned: true };
  const git = await openGit(context, source);
  const refs = parseRefs(await git(["ls-remote", "--quiet", "--", source.url]));
  if (range !== undefined) return { commit: await pickTag(refs, range, source), kind: "range", isPinned: false };
  if (ref === undefined) return { commit: refs.get("HEAD") ?? fail(source), kind: "default", isPinned: false };
  const branch = refs.get(toFull(ref, "heads")) ?? refs.get(ref);
  // The commit of a tag that is an object of its own follows it.
  const tag = refs.get(`${toFull(ref, "tags")}^{}`) ?? refs.get(toFull(ref, "tags"));
  if (branch !== undefined && tag !== undefined && !ref.startsWith("refs/")) throw wordTwice(source, ref);
  if (tag !== undefined) return { commit: tag, kind: "tag", isPinned: true };
  if (branch !== undefined) return { commit: branch, kind: "branch", isPinned: false };
  if (!/^[\da-f]{7,}$/.test(ref)) fail(source);
  return { commit: await expandCommit(context, source, ref), kind: "commit", isPinned: true };
}

/** Fetches the files of a commit as a tar archive, from the cache where they are there. */
export async function fetchCommit(context: PackageContext, source: GitSource, commit: string): Promise<Buffer> {
  const { subfolder, repository, url } = source;
  const key = createHash("sha256")
    .update([repository, subfolder ?? "", commit].join("\0"))
    .digest("hex");
  const cached = join(cacheOf(context), "git", `${key}.tar`);
  const kept = await readFile(cached).catch(() => undefined);
  if (kept) return kept;
  if (context.isOffline) throw wordGit(source.repository, "it is not in the cache, and nothing may be fetched now");
  return await inRepository(context, source, async (git, folder) => {
    const archive = join(folder, "files.tar");
    await git(["fetch", "--quiet", "--depth=1", "--no-tags", "--", url, commit]).catch(() => fetchAll(git, source));
    const tree = subfolder === undefined ? commit : `${commit}:${subfolder}`;
    await git([...AS_STORED, "archive", "--format=tar", "--prefix=package/", `--output=${archive}`, tree], PLAIN);
    const bytes = await readFile(archive);
    await mkdir(dirname(cached), { recursive: true });
    await rename(archive, cached);
    return bytes;
  });
}

// The same bytes for everybody: neither line ends nor filters of the person's count.
const AS_STORED = ["-c", "core.autocrlf=false", "-c", "core.eol=lf", "-c", `core.attributesFile=${devNull}`];
const PLAIN = { GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: "1", GIT_ATTR_NOSYSTEM: "1" };

type Git = (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<string>;

/** Works in an empty repository. */
async function inRepository<T>(
  context: PackageContext,
  source: GitSource,
  work: (git: Git, folder: string) => Promise<T>,
): Promise<T> {
  return await withScratch(context, async (folder) => {
    const git = await openGit(context, source, folder);
    await git(["init", "--quiet", "--bare", "--template=", folder]);
    return await work(git, folder);
  });
}

/** Finds git, to be run in a repository or in none: no other one's settings count than the person's own. */
async function openGit(
  context: PackageContext,
  { repository, url }: GitSource,
  folder: string = devNull,
): Promise<Git> {
  const program = context.findProgram("git");
  if (program === undefined) throw wordGit(repository, "there is no program git on PATH", "Install git.");
  const { signal, requestTimeoutMs: timeout = TIMEOUT_MS } = context;
  const env = environmentFor(context, folder);
  const git: Git = async (args, more) => {
    const run = { cwd: ROOT, env: { ...env, ...more }, signal, timeout };
    const { code, stdout, stderr, killed } = await exec(program, args, run);
    signal?.throwIfAborted();
    if (killed) throw wordGit(repository, "there was no answer in time");
    if (code !== 0) throw wordGit(repository, stderr.trim() || `git ended with ${code}`);
    return stdout;
  };
  if (/^ssh:|^[^/]+@/.test(url)) env.GIT_SSH_COMMAND ??= await quietSsh(git);
  return git;
}

function environmentFor({ env }: PackageContext, folder: string): NodeJS.ProcessEnv {
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !LEFT_OUT.test(name)));
  // Nobody is there to answer. A helper for credentials, if there is one, is the person's own.
  return {
    ...kept,
    GIT_DIR: folder,
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "",
    SSH_ASKPASS_REQUIRE: "never",
    GIT_ALLOW_PROTOCOL: "https:ssh:file",
    LC_ALL: "C",
  };
}

/** The person's own command for ssh where they have one, else one that asks nothing. */
async function quietSsh(git: Git): Promise<string> {
  const own = await git(["config", "--get", "core.sshCommand"]).catch(() => "");
  return own.trim() || "ssh -oBatchMode=yes";
}

function parseRefs(listed: string): Map<string, string> {
  const lines = listed.split("\n").map((line) => line.split("\t"));
  return new Map(lines.flatMap(([commit = "", ref = ""]) => (isFullCommit(commit) ? [[ref, commit] as const] : [])));
}

function toFull(ref: string, kind: "heads" | "tags"): string {
  return ref.startsWith("refs/") ? (ref.startsWith(`refs/${kind}/`) ? ref : "") : `refs/${kind}/${ref}`;
}

async function pickTag(refs: ReadonlyMap<string, string>, range: string, source: GitSource): Promise<string> {
  const { maxSatisfying, valid, validRange } = (await import("semver")).default;
  if (validRange(range) === null)
    throw wordNoRef(source.repository, `${range} is no range of versions`, "Write semver:^1.2.");
  const tags = new Map<string, string>();
  for (const [ref, commit] of refs) {
    const tag = /^refs\/tags\/(.+?)(\^\{\})?$/.exec(ref);
    const version = tag?.[1] && valid(tag[1]);
    // The commit of a tag that is an object of its own follows it.
    if (version && (tag[2] || !tags.has(version))) tags.set(version, commit);
  }
  const best = maxSatisfying([...tags.keys()], range);
  return (best && tags.get(best)) ?? fail(source, `no tag of it is in the range ${range}`);
}

async function expandCommit(context: PackageContext, source: GitSource, short: string): Promise<string> {
  return await inRepository(context, source, async (git) => {
    await fetchAll(git, source);
    const found = await git(["rev-parse", "--verify", "--quiet", `${short}^{commit}`]).catch(() => fail(source));
    return found.trim();
  });
}

async function fetchAll(git: Git, source: GitSource): Promise<string> {
  return await git(["fetch", "--quiet", "--", source.url, "+refs/*:refs/*"]);
}

function wordTwice({ repository }: GitSource, ref: string): Error {
  return wordNoRef(repository, `${ref} is a branch and a tag`, `Say which: @refs/heads/${ref} or @refs/tags/${ref}.`);
}

function fail({ repository, ref }: GitSource, why?: string): never {
  throw wordNoRef(
    repository,
    why ?? (ref === undefined ? "it has no default branch" : `it has no branch, tag or commit ${ref}`),
  );
}
