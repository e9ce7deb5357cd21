import type { FlagValue } from "@pi-agent/kernel";

/** A flag of the command itself. Extensions register more; those are settled once they are loaded. */
export interface FlagSpec {
  name: string;
  short?: string;
  /** `optional`: the next argument belongs to it unless it starts with `-` or `@`. */
  takes: "nothing" | "value" | "optional";
  /** Each use adds one value; else the last one counts. */
  multiple?: boolean;
  choices?: readonly string[];
  /** The least whole number that is allowed. */
  least?: number;
  /** What a value looks like, in words that follow "it takes", and one that does. */
  form?: { pattern: RegExp; name: string; hint: string };
  /** The flag that it takes back: of the two, the last one counts. */
  opposite?: string;
}

const THINKING_LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

const DIGEST = {
  pattern: /^sha256-[0-9a-f]{64}$/,
  name: "the digest of what a project brings: sha256- and 64 of 0-9 and a-f",
  hint: "pi trust prints it, after: content",
};

const AGENT = {
  pattern: /\S/,
  name: "the name of an agent, or the path of its file or folder",
  hint: "for example: --agent reviewer, or --agent ./agent.json",
};

/** Tells whether a switch is on: `--name=false` is not. */
export function isOn(flags: ReadonlyMap<string, FlagValue>, name: string): boolean {
  return flags.get(name) === true;
}

/** What has to be known before anything is loaded. The flags of packages are theirs: sessions, prompts, logs. */
export const FLAGS: readonly FlagSpec[] = [
  { name: "help", short: "h", takes: "nothing" },
  { name: "version", short: "v", takes: "nothing" },
  { name: "print", short: "p", takes: "nothing" },
  { name: "mode", takes: "value" },
  { name: "verbose", takes: "nothing" },
  { name: "offline", takes: "nothing" },

  { name: "model", takes: "value" },
  { name: "provider", takes: "value" },
  { name: "api-key", takes: "value" },
  { name: "thinking", takes: "value", choices: THINKING_LEVELS },
  { name: "list-models", takes: "optional" },
  { name: "export", takes: "value" },
  { name: "max-turns", takes: "value", least: 1 },

  { name: "tools", short: "t", takes: "value" },
  { name: "exclude-tools", short: "xt", takes: "value" },
  { name: "no-builtin-tools", short: "nbt", takes: "nothing" },
  { name: "no-tools", short: "nt", takes: "nothing" },

  { name: "agent", takes: "value", form: AGENT },
  { name: "extension", short: "e", takes: "value", multiple: true },
  { name: "no-extensions", short: "ne", takes: "nothing" },
  { name: "no-context-files", short: "nc", takes: "nothing" },
  { name: "approve", short: "a", takes: "nothing", opposite: "no-approve" },
  { name: "no-approve", short: "na", takes: "nothing", opposite: "approve" },
  { name: "trust", takes: "value", form: DIGEST },
];
