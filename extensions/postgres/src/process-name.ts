import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/**
 * A process, told apart from a later one with the same number: `<pid>-<when it started>-<host>`, fit for a file name.
 * The start is the system's own word for it, `0` where it has none.
 */
export type ProcessName = string;

let own: ProcessName | undefined;

/** Names this process. */
export function ownProcessName(): ProcessName {
  return (own ??= `${process.pid}-${startOf(process.pid) ?? "0"}-${hostHash()}`);
}

/** Whether it lives: `elsewhere` when it runs on another host, where nobody here can look. */
export function lookAfter(name: ProcessName): "alive" | "dead" | "elsewhere" {
  const [pidText = "", start = "0", host = ""] = name.split("-");
  const pid = Number(pidText);
  if (host !== hostHash()) return "elsewhere";
  if (!Number.isInteger(pid) || pid <= 0 || !exists(pid)) return "dead";
  const now = startOf(pid);
  return start === "0" || now === undefined || now === start ? "alive" : "dead";
}

export function pidOf(name: ProcessName): number {
  return Number.parseInt(name, 10);
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is one too.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function startOf(pid: number): string | undefined {
  try {
    if (process.platform === "linux") {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      // The name in the second field may hold spaces and brackets; the start is field 22.
      return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    }
    if (process.platform === "win32") return undefined;
    const printed = execFileSync("/bin/ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" });
    return hash(printed.trim());
  } catch {
    // It has ended, or may not be looked at.
    return undefined;
  }
}

function hostHash(): string {
  return hash(hostname());
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
