/**
 * The command, from its arguments to its exit code:
 *
 *   arguments ──► help, wrong usage
 *       └───────► run-agent: load ──► sub-command or mode ──► exit code
 */
import { readFileSync } from "node:fs";
import { type Arguments, parseArguments } from "./arguments.ts";
import type { OwnAgent } from "./choose-agent.ts";
import { usageOf } from "./commands/usage.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { isOn } from "./flags.ts";
import { HELP } from "./help.ts";
import { printError } from "./print-error.ts";

/**
 * Runs a program that is an agent of its own, to the end of the process: `file` is its agent file or the folder of it, as a
 * path or URL, and what lies beside it is the program's own. Arguments default to the process's.
 */
export async function runAgentFile(file: string | URL, argv: readonly string[] = process.argv.slice(2)): Promise<void> {
  const { openOwnAgent } = await import("./own-agent.ts");
  const own = await openOwnAgent(file);
  if (own) await main(argv, own);
}

/** Runs the command with the arguments that were typed, to the end of the process. `own`: the agent that the program is. */
export async function main(argv: readonly string[], own?: OwnAgent): Promise<void> {
  const typed = parseArguments(argv);
  const help = findHelp(typed);
  if (help !== undefined) process.stdout.write(own && help === HELP ? await describeOwn(own) : help);
  else if (isOn(typed.flags, "version")) process.stdout.write(`${await readVersion(own)}\n`);
  else if (typed.problem) {
    printError(typed.problem);
    process.exitCode = EXIT_CODES.usage;
  } else {
    const { runAgent } = await import("./run-agent.ts");
    await runAgent(typed, own);
  }
}

/** `--help`, or `help` with nothing but the name of a sub-command; both of one sub-command where it has a help of its own. */
function findHelp({ command, commandArguments, flags }: Arguments): string | undefined {
  const [topic, ...more] = commandArguments.filter((each) => !each.startsWith("-"));
  if (command === "help" && more.length === 0 && (topic === undefined || usageOf(topic) !== undefined))
    return (topic && usageOf(topic)) || HELP;
  return isOn(flags, "help") ? (usageOf(command) ?? HELP) : undefined;
}

async function describeOwn(own: OwnAgent): Promise<string> {
  return (await import("./own-agent.ts")).describeOwnAgent(own);
}

async function readVersion(own?: OwnAgent): Promise<string> {
  if (own) return (await import("./own-agent.ts")).versionOfOwn(own);
  return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
}
