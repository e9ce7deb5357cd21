import { AgentError, type Flag, type FlagValue, type Registered } from "@pi-agent/kernel";
import { nearestNames } from "./nearest-names.ts";
import type { LoadFlags } from "./options.ts";

type Flags = ReadonlyMap<string, Registered<"flag">>;

/** Fills in the flags of a start, once what user scope registers is known. Fails with `unknown_flag` and `flag_value`. */
export function fillFlags(flags: Map<string, FlagValue>, given: LoadFlags | undefined, registered: Flags): void {
  const { values = new Map<string, FlagValue>(), offline, verbose } = given ?? {};
  const settled = typeof values === "function" ? values(registered) : settleFlags(values, registered);
  for (const [name, value] of settled) flags.set(name, value);
  if (offline) flags.set("offline", true);
  if (verbose) flags.set("verbose", true);
}

/** Checks flags against what extensions registered, by long or short name. Fails with `unknown_flag` and `flag_value`. */
export function settleFlags(
  values: ReadonlyMap<string, FlagValue | undefined>,
  registered: Flags,
): Map<string, FlagValue> {
  const settled = new Map<string, FlagValue>();
  for (const [name, value] of values) {
    const found = find(registered, name);
    if (!found) throw unknown(name, [...registered.keys()]);
    settled.set(found.name, toValue(found.name, found.value, value));
  }
  return settled;
}

function find(registered: Flags, name: string): Registered<"flag"> | undefined {
  return registered.get(name) ?? [...registered.values()].find(({ value }) => value.short === name);
}

function toValue(name: string, flag: Flag, value: FlagValue | undefined): FlagValue {
  if (flag.type === "boolean") {
    if (value === undefined || value === true || value === "true") return true;
    if (value === false || value === "false") return false;
    throw wrong(name, "is a switch and takes no value", `Write --${name} alone.`);
  }
  if (value === undefined || typeof value === "boolean") {
    throw wrong(name, "needs a value", `Write --${name}=<value>.`);
  }
  const texts = Array.isArray(value) ? value : [value];
  const odd = texts.find((text) => flag.choices && !flag.choices.includes(text));
  if (odd !== undefined) {
    const [nearest] = nearestNames(odd, flag.choices ?? [], 1);
    const hint = nearest === undefined ? `It takes one of: ${flag.choices?.join(", ")}.` : `Did you mean ${nearest}?`;
    throw wrong(name, `cannot be ${JSON.stringify(odd)}`, hint);
  }
  return flag.multiple ? texts : (texts.at(-1) ?? "");
}

function unknown(name: string, names: readonly string[]): AgentError {
  const [nearest] = nearestNames(name, names, 1);
  const hint = nearest === undefined ? "pi --help lists the flags." : `Did you mean --${nearest}?`;
  return new AgentError("unknown_flag", `There is no flag --${name}.`, { hint });
}

function wrong(name: string, what: string, hint: string): AgentError {
  return new AgentError("flag_value", `--${name} ${what}.`, { hint });
}
