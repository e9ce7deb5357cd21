/**
 * The help: one screen of 80 columns and 40 lines. Flags of the default packages are in it, those of other extensions
 * are not, since none is loaded for it.
 */
export const HELP = `pi: an agent in your terminal, in scripts and in pipes

Usage: pi [flags] [--] [@file ...] ["prompt" ...]
       pi [flags] trust | prompt | doctor | demo | sessions | help [COMMAND]
       pi [flags] install | remove | list | update | config | create

Without a prompt, on a terminal: a conversation. Otherwise one answer on stdout.
What is piped in, and the files, become part of the first prompt.
Each word without quotes is a prompt of its own: quote what belongs together.

  -p, --print                  answer once and leave
      --mode text|json         json: every event, one a line, on stdout
      --verbose                show each step, on stderr
      --log stderr|stdout|FILE a JSON line for each step

      --model MODEL            provider/id, id or part of it, then :LEVEL
      --provider NAME          look for the model there
      --api-key KEY            its key, for this time
      --thinking LEVEL         off minimal low medium high xhigh max
      --list-models [WORDS]    show what there is and leave
      --max-turns N            end after N calls of the model

  -c, --continue               go on with the last session; -r, --resume: choose
      --session FILE|ID        go on with that one; --fork FILE|ID: with a copy
      --session-dir DIR        keep them there; --session-id ID: begin it so
  -n, --name TEXT              name it; --no-session; --export FILE [OUT]: HTML

  -t, --tools A,B or +A,-B     only these, or change them; -nt, --no-tools: none
  -xt, --exclude-tools A,B     not these; -nbt, --no-builtin-tools: no official
      --agent FILE|NAME        be that agent: only the packages that FILE picks
  -e, --extension PATH|SOURCE  load it too; -ne, --no-extensions: no others
      --system-prompt TEXT     a text or a file; --append-system-prompt: add it
  -nc, --no-context-files      leave AGENTS.md and CLAUDE.md out
  -a, --approve                trust this project, this time; -na, --no-approve
      --trust sha256-...       the same for this very content: see pi trust
      --offline                only the model's network; -h --help, -v --version

Keys: ANTHROPIC_API_KEY, GEMINI_API_KEY, OPENAI_API_KEY, or your models.json.
Exit: 0 answer, 1 error or cut answer, 2 usage, 129/130/143 by signal.
More: README.md; pi doctor lists the commands and flags of all extensions.
`;
