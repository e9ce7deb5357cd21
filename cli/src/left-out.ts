/** What the official packages bring, so that who asks for something of one that is not loaded is told which it is. */

const FLAGS: Readonly<Record<string, readonly string[]>> = {
  sessions: ["continue", "c", "resume", "r", "fork", "session", "session-id", "session-dir", "no-session", "name", "n"],
  "system-prompt": ["system-prompt", "append-system-prompt"],
  "step-log": ["log"],
  cassette: ["cassette", "record-cassette", "cassette-speed"],
};
const TOOLS: Readonly<Record<string, readonly string[]>> = {
  tools: ["read", "bash", "edit", "write", "grep", "find", "ls"],
};

/** The package that brings a flag, by its long or its short name; `undefined` where none of ours does. */
export function packageOfFlag(name: string): string | undefined {
  return packageOf(name, FLAGS);
}

/** The package that brings a tool; `undefined` where none of ours does. */
export function packageOfTool(name: string): string | undefined {
  return packageOf(name, TOOLS);
}

/** What to do about it. */
export function hintToBring(name: string): string {
  return `pick ${name} in the agent's file, or take -builtin:${name.split("/")[1]} out of your settings`;
}

function packageOf(name: string, table: Readonly<Record<string, readonly string[]>>): string | undefined {
  const found = Object.entries(table).find(([, names]) => names.includes(name))?.[0];
  return found && `@pi-agent/${found}`;
}
