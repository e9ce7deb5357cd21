import { oneLine } from "./one-line.ts";
import type { Problem, ProblemKind } from "./record.ts";

/** What is told of each kind; after a colon comes how many there were. */
const WORDS: Record<ProblemKind, string> = {
  torn: "the last line was cut off",
  unreadable: "unreadable lines:",
  glued: "lines with several entries:",
  nul: "lines with zero bytes:",
  foreign: "lines that are no entries:",
  late_header: "the header is not the first line",
  newer_version: "it was written by a newer version",
  bad_message: "message entries without a message:",
  bad_entry: "entries without what they are for:",
  bad_shape: "entries with parts of a wrong shape, replaced or left out:",
  no_id: "entries without an id:",
  duplicate_id: "entries with an id that is taken:",
  no_parent: "entries without a parent, put after the one before them:",
  cycle: "cycles, cut:",
  order: "entries came before their parents",
};
// More line numbers than this are no help to a person.
const MAX_PLACES = 5;

/** Says in one notice what is wrong with a file; empty when nothing is. */
export function describeProblems(file: string, problems: readonly Problem[]): string {
  if (problems.length === 0) return "";
  const parts = Array.from(
    Map.groupBy(problems, ({ kind }) => kind),
    ([kind, found]) => {
      const places = found.flatMap(({ line, entryId }) => (line ? `line ${line}` : (entryId ?? [])));
      const shown = places.slice(0, MAX_PLACES).join(", ") + (places.length > MAX_PLACES ? ", …" : "");
      const words = WORDS[kind].endsWith(":") ? `${WORDS[kind]} ${found.length}` : WORDS[kind];
      return shown ? `${words} (${shown})` : words;
    },
  );
  const what = `The session file ${file} is not as it should be: ${parts.join("; ")}.`;
  return `${what} The session goes on with what could be read; nothing in the file is changed for that.`;
}

/** Makes an error of three parts: what happened and why, and what to do; each is one line, whatever it names. */
export function sessionError(code: string, message: string, hint: string): Error {
  return Object.assign(new Error(oneLine(message)), { code, hint: oneLine(hint) });
}

/** What an error of the file system says, for a sentence. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
