/**
 * What follows the arguments, top to bottom:
 *
 *   front end ──► output and signals in charge ──► load ──► sub-command │ --list-models │ mode ──► exit code
 */
import { isAgentError } from "@pi-agent/kernel";
import type { Arguments, Settled } from "./arguments.ts";
import { chooseAgent, type OwnAgent } from "./choose-agent.ts";
import { BUILT_IN, type BuiltIn } from "./commands/built-in.ts";
import { runRegistered } from "./commands/registered.ts";
import { nameOfCommand } from "./commands/usage.ts";
import { takeCharge } from "./exit.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { isOn } from "./flags.ts";
import { chooseFront } from "./front.ts";
import { judgeFlags } from "./judge-flags.ts";
import { currentFolder, loadAgent, type Start } from "./load-agent.ts";
import { judgeFirstWord } from "./mistaken.ts";
import { printError, toProblem } from "./print-error.ts";
import { reportHeld, reportLoad } from "./report-load.ts";
import { applyAgent, applyTools, runMode } from "./run-mode.ts";
import { guardStdout, openStdout } from "./stdout-guard.ts";

/** Loads an agent and does with it what was typed, to the end of the process. `own`: the agent that a program is. */
export async function runAgent(typed: Arguments, own?: OwnAgent): Promise<void> {
  const builtIn = BUILT_IN.get(nameOfCommand(typed.command));
  const front = await chooseFront(typed.flags, builtIn !== undefined);
  const output = front.terminal ? openStdout() : guardStdout();
  const exit = takeCharge(output);
  const start = { typed, front, output, exit };
  await exit.end(await perform(start, { builtIn, own }).catch((thrown: unknown) => fail(thrown, start)));
}

async function perform(from: Start, { builtIn, own }: { builtIn?: BuiltIn; own?: OwnAgent }): Promise<number> {
  const start = { ...from, agent: await chooseAgent(from.typed.flags, own) };
  const { typed, output, exit } = start;
  const { isPlanOnly, isBare } = builtIn ?? {};
  const { loaded, settled } = await loadAgent(start, currentFolder(), { isPlanOnly, isBare });
  exit.before(() => loaded.dispose());
  const { agent, host, report, trust, packages } = loaded;
  if (builtIn) {
    if (!isBare) applyTools(start, loaded);
    if (!isPlanOnly) await applyAgent(typed.flags, loaded);
    if (!builtIn.listsHeld) reportHeld(report);
    const loadAt = async (folder: string) => (await loadAgent(start, folder, { isPlanOnly, isBare })).loaded;
    const io = { agent, host, report, trust, packages, output, exit, loadAt };
    return builtIn.run(typed.commandArguments, io);
  }
  reportLoad(loaded);
  const asked = askedFor(typed, settled);
  const command = agent.registry("cli").get(asked.name);
  if (command) return runRegistered(command.value, asked.args, { start, loaded });
  const known = [...BUILT_IN.keys(), ...agent.registry("cli").keys(), "help"];
  const problem =
    settled.problem ?? judgeFirstWord(typed, settled, known) ?? judgeFlags(host.flags, start.front.mode.name);
  if (problem) {
    printError(problem);
    return EXIT_CODES.usage;
  }
  const search = typed.flags.get("list-models");
  if (search !== undefined) {
    const { listModels } = await import("./commands/list-models.ts");
    return listModels(host, output, typeof search === "string" ? search : "");
  }
  return runMode(start, loaded, settled);
}

/** The sub-command that was typed; `--export FILE [OUT]` is one too, whatever OUT looks like. */
function askedFor(
  { command, commandArguments, flags }: Arguments,
  { words }: Settled,
): { name: string; args: string[] } {
  const file = flags.get("export");
  if (typeof file === "string") return { name: "export", args: [file, ...words] };
  return { name: command, args: commandArguments };
}

const USAGE_ERRORS: ReadonlySet<string> = new Set([
  "unknown_flag",
  "flag_value",
  "flag_conflict",
  "unknown_model",
  "ambiguous_model",
  "unknown_provider",
  "unknown_tool",
  "package_source",
  "needs_person",
]);

function fail(thrown: unknown, { typed, exit }: Start): number {
  const isVerbose = isOn(typed.flags, "verbose");
  // Who interrupted the start, or went away, needs no report of it.
  if (exit.signal.aborted) return EXIT_CODES.failed;
  if (isAgentError(thrown) || isVerbose) printError(thrown, { verbose: isVerbose });
  else printError({ ...toProblem(thrown), hint: "--verbose shows where it happened" });
  return isAgentError(thrown) && USAGE_ERRORS.has(thrown.code) ? EXIT_CODES.usage : EXIT_CODES.failed;
}
