/** Tells words that were most likely meant as a sub-command, before they reach a model as a prompt. */
import { nearestNames } from "@pi-agent/loader";
import type { Arguments, Settled } from "./arguments.ts";
import type { Problem } from "./problem.ts";

// What Pi has as sub-commands, and people type therefore.
const NOT_YET: ReadonlyMap<string, string> = new Map([
  ["auth", "set a key in the environment, or in auth.json of the agent directory"],
  ["mcp", "an extension can register the tools of a server"],
]);

/** Answers what is wrong with the first word, if it names no sub-command and was hardly meant as a prompt. */
export function judgeFirstWord(typed: Arguments, settled: Settled, known: readonly string[]): Problem | undefined {
  const { command } = typed;
  if (command === "") return judgeLateCommand(typed, settled, known);
  const instead = NOT_YET.get(command);
  if (instead !== undefined) {
    return { what: `pi ${command} is not there yet`, why: "this version has no such sub-command", hint: instead };
  }
  const [, next] = settled.words;
  if (settled.files.length > 0 || (next !== undefined && !isArgument(next))) return undefined;
  const [nearest] = nearestNames(command, known, 1);
  if (nearest === undefined || !isSlip(command, nearest)) return undefined;
  return {
    what: `there is no sub-command ${command}`,
    why: "a word like this is most likely a slip",
    hint: `did you mean pi ${nearest}? As a prompt: pi -p ${command}`,
  };
}

/** A source of a package or a path follows sub-commands, and hardly the first word of a prompt. */
function isArgument(word: string): boolean {
  return /^[\w-]*:\S|^[@.~/]\S|^\S+\/\S+$/.test(word);
}

/** One that stands after flags of extensions, which could have been the value of one of them. */
function judgeLateCommand({ flags, rest }: Arguments, settled: Settled, known: readonly string[]): Problem | undefined {
  const [word = ""] = settled.words;
  const isLiteral = rest.some((item) => item.kind === "word" && item.raw === word && item.isLiteral);
  if (flags.has("print") || flags.has("mode") || isLiteral) return undefined;
  if (rest[0]?.kind !== "flag" || !known.includes(word)) return undefined;
  return {
    what: `the sub-command ${word} stands after ${rest[0].raw}`,
    why: "flags of extensions come after a sub-command, where it can take them",
    hint: `write pi ${word} ${rest[0].raw}; as a prompt: pi -p ${word}`,
  };
}

/** One wrong letter in a short name, two in a longer one: "hello" is no slip of "help", nor "test" of "trust". */
function isSlip(typed: string, name: string): boolean {
  const letters = Array.from(name);
  for (const letter of typed) {
    const at = letters.indexOf(letter);
    if (at >= 0) letters.splice(at, 1);
  }
  const shared = name.length - letters.length;
  const wrong = Math.max(typed.length, name.length) - shared;
  return wrong <= (name.length < 6 ? 1 : 2);
}
