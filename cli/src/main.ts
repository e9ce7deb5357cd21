/**
 * The command, from its arguments to its exit code:
 *
 *   arguments ──► help, wrong usage
 *       └───────► run-agent: load ──► sub-command or mode ──► exit code
 */
import { readFileSync } from "node:fs";
import { parseArguments } from "./arguments.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { isOn } from "./flags.ts";
import { HELP } from "./help.ts";
import { printError } from "./print-error.ts";

/** Runs the command with the arguments that were typed, to the end of the process. */
export async function main(argv: readonly string[]): Promise<void> {
  const typed = parseArguments(argv);
  const isHelp = typed.command === "help" && typed.rest.slice(1).every(({ kind }) => kind === "flag");
  if (isHelp || isOn(typed.flags, "help")) process.stdout.write(HELP);
  else if (isOn(typed.flags, "version")) process.stdout.write(`${readVersion()}\n`);
  else if (typed.problem) {
    printError(typed.problem);
    process.exitCode = EXIT_CODES.usage;
  } else {
    const { runAgent } = await import("./run-agent.ts");
    await runAgent(typed);
  }
}

function readVersion(): string {
  return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
}
