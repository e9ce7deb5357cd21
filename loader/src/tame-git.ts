/**
 * git where it only reads, so that it runs nothing that the repository names: monitors, hooks, filters, pagers (T9).
 *
 *   keys of the repository's own configuration ─► those that name a program ─► set to nothing, by the environment
 *
 * What writes is left as it is: without a repository's filters and hooks it would write something else.
 */

/** Runs git, and answers as `exec` does. */
type RunGit = (args: readonly string[], env: NodeJS.ProcessEnv) => Promise<{ code: number; stdout: string }>;

// Nothing is written, as an index that is refreshed, and nothing fetched, as what a partial clone left out.
const READ_ONLY = { GIT_OPTIONAL_LOCKS: "0", GIT_NO_LAZY_FETCH: "1", GIT_ALLOW_PROTOCOL: "none" };

export interface TamedGit {
  args: readonly string[];
  env: NodeJS.ProcessEnv;
}

const SUBMODULES = ["--ignore-submodules=dirty"];
const DIFFS = ["--no-ext-diff", "--no-textconv"];
/** What only reads, with the options that keep it from running more. */
const READING: Readonly<Record<string, readonly string[]>> = {
  status: SUBMODULES,
  diff: [...DIFFS, ...SUBMODULES],
  "diff-files": [...DIFFS, ...SUBMODULES],
  "diff-index": [...DIFFS, ...SUBMODULES],
  "diff-tree": DIFFS,
  log: DIFFS,
  show: DIFFS,
  blame: ["--no-textconv"],
  grep: ["--no-textconv"],
  "cat-file": [],
  describe: [],
  "for-each-ref": [],
  "ls-files": [],
  "ls-tree": [],
  "merge-base": [],
  "name-rev": [],
  "rev-list": [],
  "rev-parse": [],
  shortlog: [],
};
// git's own options that take the next argument with them.
const TAKING = new Set(["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source"]);
const REPOSITORY_SCOPES = new Set(["local", "worktree"]);
/** The last part of every key whose value a reading command would run, and of `filter.….required`. */
const RUN = new Set(
  (
    "fsmonitor hookspath pager external command textconv clean smudge process required driver program " +
    "alternaterefscommand sshcommand gitproxy uploadpack"
  ).split(" "),
);
// A bare repository inside of another one is none; a diff does not write the index, as it does by default.
const ALWAYS: readonly [string, string][] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["safe.bareRepository", "explicit"],
  ["diff.autoRefreshIndex", "false"],
];

/** Answers what to run in place of a git command; `undefined` where it may stay as it is. */
export async function tameGit(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  run: RunGit,
): Promise<TamedGit | undefined> {
  const at = findSubcommand(args);
  const subcommand = args[at];
  if (subcommand === undefined || !Object.hasOwn(READING, subcommand)) return undefined;
  const own = args.slice(0, at);
  const base = override(env, ALWAYS);
  const listed = await run([...own, "config", "--list", "--show-scope", "--name-only", "--null"], base);
  // Where even this fails, so does the command itself, and says why.
  const keys = listed.code === 0 ? keysOfRepository(listed.stdout).filter(isRun) : [];
  const empty = keys.map((key): [string, string] => [key, ""]);
  return {
    args: [...own, subcommand, ...(READING[subcommand] ?? []), ...args.slice(at + 1)],
    env: { ...override(base, empty), ...READ_ONLY },
  };
}

function findSubcommand(args: readonly string[]): number {
  let at = 0;
  while (args[at]?.startsWith("-")) at += TAKING.has(args[at] ?? "") ? 2 : 1;
  return at;
}

/** The list is `scope key scope key …`, each ended by a NUL. */
function keysOfRepository(list: string): string[] {
  const parts = list.split("\0");
  return parts.filter((_, index) => index % 2 === 1 && REPOSITORY_SCOPES.has(parts[index - 1] ?? ""));
}

function isRun(key: string): boolean {
  return RUN.has(key.slice(key.lastIndexOf(".") + 1).toLowerCase());
}

/** Adds to the settings that git takes from its environment; the last one of a name counts. */
function override(env: NodeJS.ProcessEnv, settings: readonly (readonly [string, string])[]): NodeJS.ProcessEnv {
  const first = Number(env.GIT_CONFIG_COUNT ?? 0) || 0;
  const numbered = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, key],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ]);
  return { ...env, ...Object.fromEntries(numbered), GIT_CONFIG_COUNT: String(first + settings.length) };
}
