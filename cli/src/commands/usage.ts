/** What `pi <command> --help` prints: one screen for each sub-command that the command brings itself. */

const SCOPE = "  -l, --local            the project's, not yours; it has to be trusted";
const TRUST = "  -a, --approve          trust this project, this time; -na, --no-approve";
const OFFLINE = "      --offline          fetch nothing; use what is in the cache";
const YES = "  -y, --yes              do it without asking, for scripts";
const SCRIPTS = "      --allow-scripts A,B  these packages may run scripts while installed";

export const USAGES: Readonly<Record<string, string>> = {
  trust: `Usage: pi trust
       pi trust show [PATH] [--json]
       pi trust diff [PATH]
       pi trust yes | text | no [PATH] [--folder] [--below]
       pi trust forget [PATH]
       pi trust list [--json]

What a project would load, and what you let it. Without a word: how it stands.
PATH is a resource of the project, or the folder of another one.

  yes                    all of it loads as it is now, or the one resource
  text                   only its words for the model
  no                     nothing of it, and it is not asked about again
      --folder           whatever the folder becomes
      --below            also folders below that are no projects of their own

More: docs/trust.md
`,
  prompt: `Usage: pi prompt [--json | --text]

The system prompt and the tools that the next run would send, part by part, with
their price.

      --text             the prompt as the model gets it
      --json             the same as data
`,
  doctor: `Usage: pi doctor [--json]

What is loaded and what it costs, what is missing, what is wrong. Exit 1 if
anything is.

      --json             the same as data
`,
  install: `Usage: pi install SOURCE
       pi install
       pi install --frozen [--lock FILE]

Installs a package: shows what it is, asks, and locks what it got. Without a
source: all that settings and lock file name.

  npm:NAME[@VERSION]     of the registry: version, range, tag; also @SCOPE/NAME
  git:HOST/PATH[@REF]    a repository: branch, tag, commit; also https: and ssh:
  ./FOLDER  ./FILE.ts    loaded where it is
  ./FILE.tgz             a tarball

${SCOPE}
${YES}
${SCRIPTS}
      --frozen           refuse where settings and lock file differ
      --lock FILE        with --frozen: go back to what this lock file names
${OFFLINE}
${TRUST}

More: docs/packages.md
`,
  remove: `Usage: pi remove SOURCE
       pi uninstall SOURCE

Takes a package away, by any spelling of its source or by its name. A folder of
yours stays where it is.

${SCOPE}
${TRUST}
`,
  list: `Usage: pi list [--outdated] [--json]

Every package: version, state, what it contains, where it comes from. States:
ok, disabled (all of it is turned off), missing, changed (its files are not
those that were installed), refused.

      --outdated         ask registries and repositories what is newer
      --json             the same as data, with all that a package contains
  -l, --local            of this project only
${OFFLINE}
${TRUST}
`,
  update: `Usage: pi update [SOURCE]
       pi update --all

Brings packages to what their sources mean today: shows from and to, and asks.
Exact versions, tags of git and commits stay, and are told. It does not update
pi itself: npm install -g @pi-agent/cli@latest

${SCOPE}
      --all              yours and this project's
      --extensions       the same as no source; --extension SOURCE: as SOURCE
${YES}
${SCRIPTS}
${OFFLINE}
${TRUST}
`,
  config: `Usage: pi config
       pi config list [--json]
       pi config on | off PACKAGE PATH

Turns single resources of packages on and off. Without a word, on a terminal: a
list to choose from. Up and down choose, space turns on or off, tab changes
between yours and the project's, enter ends.

${SCOPE}
      --json             with list: the same as data
${TRUST}
`,
  create: `Usage: pi create extension | skill | agent NAME [FOLDER]

Begins a package of your own, with a test that passes at once. NAME is the name
that it may be published by: small letters, as npm takes it; also @SCOPE/NAME.
FOLDER is ./NAME if left out; it is made, or is empty.

  extension              tools, commands, rules, providers, as TypeScript
  skill                  a text that teaches the model how to do one thing
  agent                  a program: packages, a prompt, tools of its own

More: docs/write-an-extension.md, docs/build-your-own-agent.md
`,
};

// Other names of sub-commands.
const ALIASES: Readonly<Record<string, string>> = { uninstall: "remove" };

/** The name that a sub-command goes by. */
export function nameOfCommand(typed: string): string {
  return (Object.hasOwn(ALIASES, typed) && ALIASES[typed]) || typed;
}

/** The help of a sub-command; `undefined` for one that the command does not bring itself. */
export function usageOf(typed: string): string | undefined {
  const name = nameOfCommand(typed);
  return Object.hasOwn(USAGES, name) ? USAGES[name] : undefined;
}
