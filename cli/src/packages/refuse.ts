import { EXIT_CODES } from "../exit-codes.ts";
import { printError } from "../print-error.ts";
import type { Problem } from "../problem.ts";

/** Tells what is wrong with how a command was typed; answers the exit code. */
export function refuse(problem: Problem): number {
  printError(problem);
  return EXIT_CODES.usage;
}
