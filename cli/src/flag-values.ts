/** Puts flags and their values into a table, and says what is wrong with a value. */
import type { FlagValue } from "@pi-agent/kernel";
import { nearestNames } from "@pi-agent/loader";
import type { FlagSpec } from "./flags.ts";
import type { Problem } from "./problem.ts";

/** Sets a flag as it was typed; answers what is wrong with it, if anything is. */
export function setFlag(
  flags: Map<string, FlagValue>,
  spec: FlagSpec,
  typed: { raw: string; value: string | undefined },
): Problem | undefined {
  const { raw, value } = typed;
  if (spec.takes === "nothing") {
    if (value !== undefined && value !== "true" && value !== "false") return takesNoValue(raw);
    flags.set(spec.name, value !== "false");
    if (spec.opposite) flags.delete(spec.opposite);
    return undefined;
  }
  if (value === undefined && spec.takes === "value") return missesValue(raw, spec);
  if (value !== undefined) {
    const problem = checkValue(raw, value, spec);
    if (problem) return problem;
  }
  const before = flags.get(spec.name);
  if (spec.multiple) flags.set(spec.name, [...(Array.isArray(before) ? before : []), value ?? ""]);
  else flags.set(spec.name, value ?? true);
  return undefined;
}

function checkValue(raw: string, value: string, spec: FlagSpec): Problem | undefined {
  const flag = raw.split("=")[0];
  if (spec.least !== undefined && !(/^\d{1,9}$/.test(value) && Number(value) >= spec.least)) {
    return {
      what: `${flag} cannot be "${value}"`,
      why: `it takes a whole number from ${spec.least}`,
      hint: `for example: ${flag} ${spec.least + 9}`,
    };
  }
  if (spec.form && !spec.form.pattern.test(value)) {
    return { what: `${flag} cannot be "${value}"`, why: `it takes ${spec.form.name}`, hint: spec.form.hint };
  }
  if (spec.choices && !spec.choices.includes(value)) {
    const [nearest] = nearestNames(value, spec.choices, 1);
    return {
      what: `${flag} cannot be "${value}"`,
      why: `it takes one of: ${spec.choices.join(", ")}`,
      hint: nearest === undefined ? undefined : `did you mean ${flag} ${nearest}?`,
    };
  }
  return undefined;
}

function takesNoValue(raw: string): Problem {
  const flag = raw.split("=")[0];
  return { what: `${raw} has a value`, why: `${flag} is a switch`, hint: `write ${flag} alone` };
}

function missesValue(raw: string, spec: FlagSpec): Problem {
  const choices = spec.choices ? `one of: ${spec.choices.join(", ")}` : (spec.form?.name ?? "what it should be");
  return { what: `${raw} has no value`, why: "it needs one", hint: `write after it ${choices}` };
}
