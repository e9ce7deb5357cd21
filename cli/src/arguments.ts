/**
 * Splits the command line, once, in two steps:
 *
 *   argv ── parseArguments ──► flags of the command, and what is left in the order typed
 *   what is left ── settleArguments(flags of extensions) ──► words, files, flags of extensions
 *
 * The second step waits until extensions have registered their flags: only then is it known whether `--name next` is a
 * flag with its value or a switch followed by the first word of the prompt.
 */
import type { Flag, FlagValue } from "@pi-agent/kernel";
import { nearestNames } from "@pi-agent/loader";
import { setFlag } from "./flag-values.ts";
import { FLAGS, type FlagSpec } from "./flags.ts";
import { hintToBring, packageOfFlag } from "./left-out.ts";
import type { Problem } from "./problem.ts";

/** An argument that the command itself did not take: what was typed, and its place. */
export type Item = { raw: string; at: number } & (
  | { kind: "word"; isLiteral?: true }
  | { kind: "file"; path: string }
  | { kind: "flag"; name: string; short: boolean; value?: string }
);

export interface Arguments {
  /** By long name. */
  flags: Map<string, FlagValue>;
  rest: Item[];
  /**
   * The first word, where it could name a sub-command: before it stand only flags of the command itself, and none of
   * `--print`, `--mode` and `--`, which begin a prompt; else "".
   */
  command: string;
  /** What follows it, as it was typed, without the command's own flags; `--` where something after it begins with a dash. */
  commandArguments: string[];
  problem?: Problem;
}

export interface Settled {
  /** The flags of extensions, by long name. */
  flags: Map<string, FlagValue>;
  words: string[];
  files: string[];
  problem?: Problem;
}

/** Takes the command's own flags out of `argv`. The first thing that is wrong is the answer's `problem`. */
export function parseArguments(argv: readonly string[]): Arguments {
  const result: Arguments = { flags: new Map(), rest: [], command: "", commandArguments: [] };
  for (let at = 0; at < argv.length; at++) {
    const raw = argv[at] ?? "";
    if (raw === "--") {
      for (const [index, text] of argv.slice(at + 1).entries()) {
        const item = toPlainItem(text, at + 1 + index);
        result.rest.push(item.kind === "word" ? { ...item, isLiteral: true } : item);
      }
      break;
    }
    // A lone dash says "read standard input", which happens anyway.
    if (raw === "-") continue;
    const typed = splitFlag(raw);
    const spec = typed && findFlag(typed);
    if (!typed) {
      if (result.rest.length === 0) result.command = findCommand(raw, result.flags);
      result.rest.push(toPlainItem(raw, at));
    } else if (!spec) result.rest.push({ kind: "flag", raw, at, ...typed });
    else {
      const value = typed.value ?? readNext(spec, argv[at + 1]);
      if (value !== undefined && typed.value === undefined) at++;
      result.problem ??= setFlag(result.flags, spec, { raw, value });
    }
  }
  if (result.command !== "") result.commandArguments = toCommandArguments(result.rest.slice(1));
  return result;
}

function findCommand(raw: string, flags: ReadonlyMap<string, FlagValue>): string {
  return /^[a-z][\w-]*$/.test(raw) && !flags.has("print") && !flags.has("mode") ? raw : "";
}

function toCommandArguments(rest: readonly Item[]): string[] {
  const all = rest.map(({ raw }) => raw);
  const at = rest.findIndex((item) => item.kind === "word" && item.isLiteral && item.raw.startsWith("-"));
  return at === -1 ? all : [...all.slice(0, at), "--", ...all.slice(at)];
}

/** Gives what `parseArguments` left its meaning, now that the flags of extensions are known. */
export function settleArguments(rest: readonly Item[], registered: ReadonlyMap<string, { value: Flag }>): Settled {
  const settled: Settled = { flags: new Map(), words: [], files: [] };
  for (let at = 0; at < rest.length; at++) {
    const item = rest[at] as Item;
    if (item.kind === "word") settled.words.push(item.raw);
    else if (item.kind === "file") settled.files.push(item.path);
    else {
      const spec = findRegistered(item, registered);
      if (!spec) {
        settled.problem ??= describeUnknown(item, registered.keys());
        continue;
      }
      const next = rest[at + 1];
      const takesNext =
        spec.takes === "value" && item.value === undefined && next?.kind === "word" && next.at === item.at + 1;
      if (takesNext) at++;
      settled.problem ??= setFlag(settled.flags, spec, {
        raw: item.raw,
        value: takesNext ? next.raw : item.value,
      });
    }
  }
  return settled;
}

function toPlainItem(raw: string, at: number): Item {
  return raw.startsWith("@") && raw.length > 1
    ? { kind: "file", raw, at, path: raw.slice(1) }
    : { kind: "word", raw, at };
}

/** `--name`, `--name=value` or `-n`; not a lone dash, not a number below zero, not front matter. */
function splitFlag(raw: string): { name: string; short: boolean; value?: string } | undefined {
  const match = /^(--?)([a-z][\w-]*)(?:=(.*))?$/is.exec(raw);
  if (!match) return undefined;
  const [, dashes, name = "", value] = match;
  return { name, short: dashes === "-", ...(value !== undefined && { value }) };
}

function findFlag(typed: { name: string; short: boolean }): FlagSpec | undefined {
  return FLAGS.find((flag) => (typed.short ? flag.short : flag.name) === typed.name);
}

function findRegistered(
  item: Item & { kind: "flag" },
  registered: ReadonlyMap<string, { value: Flag }>,
): FlagSpec | undefined {
  for (const [name, { value: flag }] of registered) {
    if ((item.short ? flag.short : name) !== item.name) continue;
    const takes = flag.type === "boolean" ? "nothing" : "value";
    return { name, takes, multiple: flag.multiple, choices: flag.choices };
  }
  return undefined;
}

function readNext(spec: FlagSpec, next: string | undefined): string | undefined {
  if (spec.takes === "nothing" || next === undefined) return undefined;
  if (spec.takes === "optional") return /^[-@]/.test(next) ? undefined : next;
  return next === "--" || splitFlag(next) ? undefined : next;
}

function describeUnknown(item: Item & { kind: "flag" }, registered: Iterable<string>): Problem {
  const known = [...FLAGS.map((flag) => flag.name), ...registered];
  const from = packageOfFlag(item.name);
  if (from !== undefined) {
    const what = `unknown flag ${item.raw.split("=")[0]}`;
    return { what, why: `it comes with ${from}, which is not loaded`, hint: hintToBring(from) };
  }
  // One or two letters are near to anything.
  const [nearest] = item.short ? [] : nearestNames(item.name, known, 1);
  return {
    what: `unknown flag ${item.raw.split("=")[0]}`,
    why: "neither pi nor an extension that is loaded has it",
    hint: nearest === undefined ? "pi --help lists the flags" : `did you mean --${nearest}?`,
  };
}
