import { runsError } from "./problem.ts";

export const USAGE = `pi runs list [--limit N] [--status STATUS] [--json]
pi runs show ID [--json]
pi runs replay ID [--speed N] [--mode text|json]
pi runs resume ID [prompt]
pi runs stats [--by day|model|tool] [--json]
`;

interface FlagForm {
  /** What its value may be; without it the flag is a switch. */
  value?: { pattern: RegExp; name: string };
}

/** What a sub-command of `runs` takes. */
export interface Form {
  flags: Readonly<Record<string, FlagForm>>;
  /** Whether the first word is the beginning of a run's id. */
  takesId: boolean;
  /** What may follow, in words of the usage; without it nothing may. */
  takesWords?: boolean;
}

export interface RunsArguments {
  id: string;
  words: string[];
  /** By name; a switch is "". */
  flags: ReadonlyMap<string, string>;
}

const STATUSES = ["running", "interrupted", "done", "aborted", "error", "max_turns", "stopped"] as const;

const JSON_FLAG = { json: {} };
const oneOf = (words: readonly string[]) => ({
  value: { pattern: new RegExp(`^(?:${words.join("|")})$`), name: `one of ${words.join(", ")}` },
});

/** The sub-commands of `runs`. */
export const FORMS = {
  list: {
    takesId: false,
    flags: {
      ...JSON_FLAG,
      limit: { value: { pattern: /^[1-9]\d{0,5}$/, name: "a whole number from 1" } },
      status: oneOf(STATUSES),
    },
  },
  show: { takesId: true, flags: JSON_FLAG },
  replay: {
    takesId: true,
    flags: {
      speed: { value: { pattern: /^\d+(?:\.\d+)?$/, name: "a number: 1 as it was, 2 twice as fast, 0 at once" } },
      mode: oneOf(["text", "json"]),
    },
  },
  resume: { takesId: true, takesWords: true, flags: {} },
  stats: { takesId: false, flags: { ...JSON_FLAG, by: oneOf(["day", "model", "tool"]) } },
} satisfies Record<string, Form>;

// A run's id is a UUID: 32 hexadecimal digits, with dashes between them.
const ID_BEGINNING = /^(?:[0-9a-f]-?){1,32}$/i;

/** Reads what follows the sub-command. Fails with `unknown_flag`, `flag_value`. */
export function readArguments(command: string, form: Form, args: readonly string[]): RunsArguments {
  const flags = new Map<string, string>();
  const words: string[] = [];
  const rest = [...args];
  for (let raw = rest.shift(); raw !== undefined; raw = rest.shift()) {
    if (raw === "--") words.push(...rest.splice(0));
    else if (raw.startsWith("--")) readFlag(command, form, { raw, rest, flags });
    else words.push(raw);
  }
  const id = form.takesId ? readId(command, words.shift()) : "";
  if (words.length > 0 && !form.takesWords) {
    throw runsError("flag_value", `pi runs ${command} takes no more words than that: "${words[0]}".`, usageOf(command));
  }
  return { id, words, flags };
}

function readFlag(
  command: string,
  form: Form,
  { raw, rest, flags }: { raw: string; rest: string[]; flags: Map<string, string> },
): void {
  const [name, given] = splitOnce(raw.slice(2));
  const flag = Object.hasOwn(form.flags, name) ? form.flags[name] : undefined;
  if (!flag) throw runsError("unknown_flag", `pi runs ${command} has no flag --${name}.`, usageOf(command));
  if (!flag.value) {
    flags.set(name, "");
    return;
  }
  const value = given ?? rest.shift() ?? "";
  if (!flag.value.pattern.test(value)) {
    throw runsError("flag_value", `--${name} cannot be "${value}": it takes ${flag.value.name}.`, usageOf(command));
  }
  flags.set(name, value);
}

function readId(command: string, id: string | undefined): string {
  if (id !== undefined && ID_BEGINNING.test(id)) return id.toLowerCase();
  const what =
    id === undefined ? `pi runs ${command} needs the id of a run.` : `"${id}" is not the beginning of a run's id.`;
  throw runsError("flag_value", what, "pi runs list shows the ids; the beginning of one is enough.");
}

function splitOnce(text: string): [string, string | undefined] {
  const at = text.indexOf("=");
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function usageOf(command: string): string {
  return USAGE.split("\n").find((line) => line.startsWith(`pi runs ${command}`)) ?? "pi runs lists what there is.";
}
