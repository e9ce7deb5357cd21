import { EXIT_CODES } from "../exit-codes.ts";
import { printError } from "../print-error.ts";

/** Tells that a sub-command does not know what was typed after it; answers the exit code. */
export function refuseArguments(typed: readonly string[], usage: string): number {
  printError({ what: `pi ${typed.join(" ")} is not known`, hint: `write: ${usage}` });
  return EXIT_CODES.usage;
}
