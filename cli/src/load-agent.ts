/** Loads an agent for what was typed. */
import { AgentError, type ExtensionEntry, type FlagValue, type Registered } from "@pi-agent/kernel";
import { type Loaded, type LoadFlags, type LoadOptions, load } from "@pi-agent/loader";
import { type Arguments, type Settled, settleArguments } from "./arguments.ts";
import { judgeAgentName, namesFile } from "./choose-agent.ts";
import type { Exit } from "./exit.ts";
import { isOn } from "./flags.ts";
import type { Front } from "./front.ts";
import { createOwnModes } from "./own-modes.ts";
import type { Problem } from "./problem.ts";
import type { Output } from "./stdout-guard.ts";

/** What a start has before anything is loaded. */
export interface Start {
  typed: Arguments;
  front: Front;
  output: Output;
  exit: Exit;
  /** What is to be loaded in place of the default agent. */
  agent?: LoadOptions["agent"];
}

/**
 * Loads what is for a folder, and settles the arguments once extensions have registered their flags. `isPlanOnly`: nothing
 * of a project loads, whatever was decided about it. `isBare`: no package and no extension loads.
 */
export async function loadAgent(
  start: Start,
  cwd: string,
  { isPlanOnly, isBare }: { isPlanOnly?: boolean; isBare?: boolean } = {},
): Promise<{ loaded: Loaded; settled: Settled }> {
  const { typed, front, exit } = start;
  let settled: Settled = { flags: new Map(), words: [], files: [] };
  const settle = (registered: ReadonlyMap<string, Registered<"flag">>) => {
    settled = settleArguments(typed.rest, registered);
    const problem = isBare ? undefined : judgeAgentName(typed.flags, registered);
    if (problem) throw toUsageError(problem);
    // What follows a sub-command is its own to judge; whether there is one is known when all is loaded.
    if (settled.problem && typed.command === "") throw toUsageError(settled.problem);
    // A file is read already; only a name is for the package that knows agents by name.
    const own = [...typed.flags].filter(([name, value]) => name !== "agent" || !namesFile(value));
    return new Map([...own, ...settled.flags]);
  };
  const running = Promise.withResolvers<Loaded>();
  const loaded = await load({
    cwd,
    isPlanOnly,
    isBare,
    agent: isBare || !start.agent ? undefined : withoutTyped(start.agent, typed.flags),
    flags: toLoadFlags(typed.flags, settle),
    official: isBare
      ? []
      : [describeSelf(start, running.promise), ...(await import("./default-packages.ts")).DEFAULT_PACKAGES],
    mode: front.mode,
    host: { shutdown: () => void exit.end(0) },
    maxTurns: typed.flags.has("max-turns") ? Number(typed.flags.get("max-turns")) : undefined,
    signal: exit.signal,
  });
  running.resolve(loaded);
  return { loaded, settled };
}

/** What was typed counts in place of what the agent's file says. */
function withoutTyped(
  { definition, ...agent }: NonNullable<LoadOptions["agent"]>,
  flags: ReadonlyMap<string, FlagValue>,
): LoadOptions["agent"] {
  const { model, thinking, tools, ...rest } = definition;
  const hasModel = flags.has("model") || flags.has("provider");
  const left = {
    ...(!hasModel && { model }),
    ...(!hasModel && !flags.has("thinking") && { thinking }),
    ...(!flags.has("tools") && { tools }),
  };
  return { ...agent, definition: { ...rest, ...left } };
}

/** What the command itself lends to packages: its own modes, and the real standard output for what a person sends there. */
function describeSelf(start: Start, running: Promise<Loaded>): ExtensionEntry {
  const { output } = start;
  return {
    owner: { name: "@pi-agent/cli", scope: "host" },
    extension: (pi) => {
      pi.register("service", "stdout", { write: (text: string) => output.write(text) });
      for (const mode of createOwnModes(output, (name, _host, _agent, args) => runNamed(name, args)))
        pi.register("mode", mode.name, mode);
    },
  };

  async function runNamed(name: string, args: string[]): Promise<number> {
    const { runOwnModeNamed } = await import("./run-mode.ts");
    return runOwnModeNamed(start, await running, { name, args });
  }
}

/** The working directory. Fails with `no_cwd` when it is gone. */
export function currentFolder(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new AgentError("no_cwd", "The folder that you are in is gone", { cause, hint: "change to one that exists" });
  }
}

function toLoadFlags(flags: ReadonlyMap<string, FlagValue>, settle: LoadFlags["values"]): LoadFlags {
  const extensions = flags.get("extension");
  const trust = flags.get("trust");
  return {
    approve: judgeApproval(flags),
    trust: typeof trust === "string" ? trust : undefined,
    extensions: Array.isArray(extensions) ? extensions : undefined,
    noExtensions: isOn(flags, "no-extensions"),
    noContextFiles: isOn(flags, "no-context-files"),
    offline: isOn(flags, "offline"),
    verbose: isOn(flags, "verbose"),
    values: settle,
  };
}

/** `--approve=false` refuses; `--no-approve=false` alone says nothing. */
function judgeApproval(flags: ReadonlyMap<string, FlagValue>): boolean | undefined {
  if (isOn(flags, "approve")) return true;
  return flags.get("approve") === false || isOn(flags, "no-approve") ? false : undefined;
}

/** Makes the error of a problem with what was typed. */
export function toUsageError(problem: Problem): AgentError {
  return new AgentError("flag_value", problem.what, { hint: problem.hint, cause: problem });
}
