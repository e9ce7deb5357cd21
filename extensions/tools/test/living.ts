import { readdirSync, readFileSync } from "node:fs";

/** Process ids of living processes whose command line is exactly this. */
export function pidsOf(commandLine: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => commandLineOf(pid) === commandLine);
}

/** The command line of a process; `undefined` when it is gone, or dead and not yet waited for. */
export function commandLineOf(pid: number): string | undefined {
  try {
    const isDead = /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
    return isDead ? undefined : readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trim();
  } catch {
    return undefined;
  }
}
