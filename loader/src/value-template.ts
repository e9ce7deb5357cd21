import { spawn } from "node:child_process";

/**
 * A value of `auth.json` or `models.json`, as it is written there:
 * `literal` · `$NAME` or `${NAME}` from the environment · `$$` is `$`, `$!` is `!` · a leading `!` runs a command.
 */
export type ValueTemplate = string;

/** A value, or why there is none. */
export type Resolved = { value: string } | { why: string };

export type Lookup = (name: string) => string | undefined;

const REFERENCE = /\$(?:([$!])|\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;
const COMMAND_TIMEOUT_MS = 10_000;
const MAX_OUTPUT_CHARS = 65_536;

export function isCommand(template: ValueTemplate): boolean {
  return template.startsWith("!");
}

/** Lists the variables that a value refers to. */
export function namesIn(template: ValueTemplate): string[] {
  if (isCommand(template)) return [];
  return [...template.matchAll(REFERENCE)].flatMap(([, , braced, plain]) => braced ?? plain ?? []);
}

/** Fills in what a value refers to. A variable that is not set, or empty, leaves the whole value open. */
export function fillTemplate(template: ValueTemplate, lookup: Lookup): Resolved {
  const missing = namesIn(template).filter((name) => !lookup(name));
  if (missing.length > 0) return { why: `$${missing.join(", $")} is not set` };
  const fill = (_: string, escaped?: string, braced?: string, plain?: string) =>
    escaped ?? lookup(braced ?? plain ?? "") ?? "";
  return { value: template.replace(REFERENCE, fill) };
}

/** Where a command runs: a folder that no project steers, and its environment. */
export interface Place {
  cwd: string;
  env: NodeJS.ProcessEnv;
}

/** Resolves a value. Never fails. */
export async function resolveValue(template: ValueTemplate, lookup: Lookup, place: Place): Promise<Resolved> {
  return isCommand(template) ? runCommand(template.slice(1), place) : fillTemplate(template, lookup);
}

/** Runs a shell command for its output, trimmed; with everything it started it is ended after ten seconds. */
function runCommand(command: string, place: Place): Promise<Resolved> {
  const { promise, resolve } = Promise.withResolvers<Resolved>();
  const child = spawn("/bin/sh", ["-c", command], {
    ...place,
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const timer = setTimeout(() => {
    endGroup(child.pid);
    resolve({ why: `its command took longer than ${COMMAND_TIMEOUT_MS / 1_000} s` });
  }, COMMAND_TIMEOUT_MS);
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output = (output + text).slice(0, MAX_OUTPUT_CHARS);
  });
  child.on("error", (cause) => resolve({ why: `its command could not be started: ${cause.message}` }));
  child.on("close", (code, signal) => {
    const value = output.trim();
    if (code === 0 && value !== "") resolve({ value });
    else resolve({ why: code === 0 ? "its command printed nothing" : `its command ended with ${signal ?? code}` });
  });
  return promise.finally(() => clearTimeout(timer));
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
