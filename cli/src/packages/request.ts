/** Reads what was typed after `pi install` and its neighbours. A source is never taken for an option, nor the reverse. */
import { type FlagValue, maskSecrets } from "@pi-agent/kernel";
import { nearestNames, type PackageScope } from "@pi-agent/loader";
import { FLAGS } from "../flags.ts";
import type { Problem } from "../problem.ts";

/** What a command takes. */
export interface RequestForm {
  command: string;
  /** Long names. */
  switches: readonly string[];
  /** Long names of options with a value. */
  values?: readonly string[];
  /** Flags of pi itself that mean something else here, by long name. */
  ownFlags?: readonly string[];
  mostWords: number;
}

export interface PackageRequest {
  command: string;
  words: readonly string[];
  scope: PackageScope["name"];
  has: (name: string) => boolean;
  /** The last value of an option; its values, where commas part them, are `listOf`. */
  valueOf: (name: string) => string | undefined;
  listOf: (name: string) => string[];
}

const SHORT: Readonly<Record<string, string>> = { "-l": "--local", "-y": "--yes" };
// Of the flags that pi has everywhere, those that mean something to a package command.
const OWN_FLAGS = new Set(["help", "version", "verbose", "offline", "approve", "no-approve", "trust"]);

/** Answers the request, or what is wrong with it. `flags`: what of the command line was taken for flags of pi itself. */
export function readRequest(
  args: readonly string[],
  form: RequestForm,
  flags: ReadonlyMap<string, FlagValue>,
): PackageRequest | Problem {
  const { command, mostWords, ownFlags = [] } = form;
  const sorted = sortArguments(args, form);
  if ("what" in sorted) return sorted;
  const isStray = (name: string) => flags.has(name) && !OWN_FLAGS.has(name) && !ownFlags.includes(name);
  const stray = FLAGS.find(({ name }) => isStray(name));
  if (stray) return wordRefusal(command, `it does not take --${stray.name}`);
  const { words, switches, values } = sorted;
  if (words.length > mostWords) return wordRefusal(command, wordMost(mostWords));
  return {
    command,
    words,
    scope: switches.has("--local") ? "project" : "user",
    has: (name) => switches.has(name),
    valueOf: (name) => values.get(name)?.at(-1),
    listOf: (name) => (values.get(name) ?? []).flatMap((value) => value.split(",")).filter((each) => each !== ""),
  };
}

interface Sorted {
  words: string[];
  switches: Set<string>;
  values: Map<string, string[]>;
}

function sortArguments(args: readonly string[], form: RequestForm): Sorted | Problem {
  const sorted: Sorted = { words: [], switches: new Set(), values: new Map() };
  const end = args.indexOf("--");
  const options = end === -1 ? args : args.slice(0, end);
  for (let at = 0; at < options.length; at++) {
    const typed = options[at] ?? "";
    if (!typed.startsWith("-")) {
      sorted.words.push(typed);
      continue;
    }
    const [, short = "", given] = /^([^=]*)(?:=(.*))?$/s.exec(typed) ?? [];
    const name = SHORT[short] ?? short;
    const isSwitch = form.switches.includes(name);
    if (isSwitch && given !== undefined) return wordRefusal(form.command, `${name} is a switch, without a value`);
    if (isSwitch) sorted.switches.add(name);
    else if (!form.values?.includes(name)) return wordUnknown(short, form);
    else {
      const value = given ?? options[++at];
      if (!value || (given === undefined && value.startsWith("-")))
        return wordRefusal(form.command, `${name} has no value`);
      sorted.values.set(name, [...(sorted.values.get(name) ?? []), value]);
    }
  }
  if (end !== -1) sorted.words.push(...args.slice(end + 1));
  return sorted;
}

/** Words that a command cannot be done as it was typed. What was typed is not repeated: an address may hold a password. */
export function wordRefusal(command: string, why: string, hint = `pi ${command} --help shows what it takes`): Problem {
  return { what: `pi ${command} cannot be done like this`, why, hint };
}

/** Tells a problem from a request. */
export function isProblem(read: PackageRequest | Problem): read is Problem {
  return "what" in read;
}

function wordUnknown(typed: string, { command, switches, values = [] }: RequestForm): Problem {
  const [nearest] = nearestNames(typed, [...switches, ...values], 1);
  const hint = nearest === undefined ? undefined : `did you mean ${nearest}? pi ${command} --help shows all`;
  return wordRefusal(command, `it does not take ${maskSecrets(typed)}`, hint);
}

function wordMost(most: number): string {
  if (most === 0) return "it takes nothing but options";
  return most === 1 ? "it takes one source at a time" : `it takes ${most} words at most`;
}
