/** What the command `runs` fails with; every one says what to do. */
export type RunsErrorCode =
  | "flag_value"
  | "unknown_flag"
  | "unknown_run"
  | "ambiguous_run"
  | "run_in_progress"
  | "run_unreadable"
  | "no_replay";

/** Makes an error of what happened and why, and what to do. */
export function runsError(code: RunsErrorCode, message: string, hint: string): Error & { code: RunsErrorCode } {
  return Object.assign(new Error(message), { code, hint });
}
