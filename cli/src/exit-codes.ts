/** The exit codes of the command; by signal they are the shell's: 128 and the signal's number. */
export const EXIT_CODES = {
  answered: 0,
  failed: 1,
  usage: 2,
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
} as const;
