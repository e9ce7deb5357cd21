import type { Context, ExtensionAPI, HookPoints } from "@pi-agent/kernel";
import type { SessionKeeper } from "../keeper.ts";
import type { Flags } from "../select.ts";
import { type Run, toCommand } from "./say.ts";
import type { Keeper } from "./shelf.ts";

/** What a person types in a conversation. The code of each is loaded when it is typed. */
const COMMANDS: Readonly<Record<string, { what: string; load: () => Promise<Run> }>> = {
  tree: {
    what: "the tree of this session; /tree <id or label> goes there, --summarize [focus] keeps what is left as a summary",
    load: async () => (await import("./tree.ts")).runTree,
  },
  fork: {
    what: "a new session from before one of your messages, which is offered again; /fork <id or label>",
    load: async () => (await import("./fork.ts")).runFork,
  },
  clone: {
    what: "a new session with all of this branch",
    load: async () => (await import("./fork.ts")).runClone,
  },
  resume: {
    what: "go on with another session; /resume <id or part of its name>",
    load: async () => (await import("./resume.ts")).runResume,
  },
  name: {
    what: "the name of this session; /name <text> gives it one",
    load: async () => (await import("./about.ts")).runName,
  },
  session: {
    what: "this session: its file, what it holds, what it took",
    load: async () => (await import("./about.ts")).runSession,
  },
  label: {
    what: "marks in this session; /label <id> <text> sets one, /label <id> takes it away",
    load: async () => (await import("./about.ts")).runLabel,
  },
  export: {
    what: "write this session to a page, or its branch to a .jsonl file; /export <file>",
    load: async () => (await import("./transfer.ts")).runExport,
  },
  import: {
    what: "take a session file in among yours, and go on with it; /import <file>",
    load: async () => (await import("./transfer.ts")).runImport,
  },
};

/** Registers what a person types: commands of a conversation, and sub-commands. */
export function registerCommands(pi: ExtensionAPI, keeper: Keeper): void {
  for (const [name, { what, load }] of Object.entries(COMMANDS)) {
    pi.registerCommand(name, toCommand(what, load, { pi, keeper }));
  }
  pi.register("cli", "sessions", {
    summary: "your sessions: list, show, export, import, delete",
    run: async (args, io) => (await import("./cli.ts")).runSessions(keeper, args, io),
  });
  // `--export FILE [OUT]` is the same.
  pi.register("cli", "export", {
    summary: "write a session to a page, or its branch to a .jsonl file",
    run: async (args, io) => (await import("./cli.ts")).runSessions(keeper, ["export", ...args], io),
  });
}

/** Answers the hook `session_select`. The code of `--fork` and `--resume` is loaded when one of them is given. */
export async function selectAtStart(
  keeper: SessionKeeper,
  flags: Flags,
  ctx: Context,
): Promise<HookPoints["session_select"]["result"]> {
  keeper.prepare(flags, ctx);
  const isAsked = flags.get("fork") !== undefined || flags.get("resume") === true;
  const start = isAsked ? await import("./start.ts") : undefined;
  return keeper.select(await start?.selectAsked(keeper, flags, ctx), ctx);
}
