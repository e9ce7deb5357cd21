import type { ExtensionAPI, FlagValue } from "@pi-agent/kernel";

const FLAGS = ["tools", "exclude-tools", "no-tools", "no-builtin-tools"];

/** Tells whether flags of the command say which tools are on. */
export function isTyped(pi: ExtensionAPI, flags: readonly string[] = FLAGS): boolean {
  const isSet = (value: FlagValue | undefined) => value !== undefined && value !== false && value !== "";
  return flags.some((flag) => isSet(pi.getFlag(flag)));
}

/** Tells which tools the flags leave of an agent's own: its file does not bring back what was typed away. */
export function leftByFlags(pi: ExtensionAPI, usual: ReadonlySet<string>): (name: string) => boolean {
  const official = new Set(pi.getAllTools().flatMap(({ name, owner }) => (owner.scope === "official" ? name : [])));
  const excluded = patternsOf(pi.getFlag("exclude-tools"));
  return (name) => {
    if (isTyped(pi, ["no-tools"])) return false;
    if (isTyped(pi, ["tools"]) && !usual.has(name)) return false;
    if (isTyped(pi, ["no-builtin-tools"]) && official.has(name)) return false;
    return !excluded.some((pattern) => pattern.test(name));
  };
}

function patternsOf(value: FlagValue | undefined): RegExp[] {
  const entries = typeof value === "string" ? value.split(",").flatMap((entry) => entry.trim() || []) : [];
  return entries.map((entry) => {
    const parts = entry.split("*").map((part) => part.replace(/[\\^$.+?()[\]{}|]/g, "\\$&"));
    return new RegExp(`^${parts.join(".*")}$`);
  });
}
