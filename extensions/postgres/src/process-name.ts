import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname, uptime } from "node:os";

/**
 * A process, told apart from a later one with the same number: `<pid>-<when it started>-<place>`, fit for a file name.
 * The start is the system's own word for it, `0` where it has none. The place is the host's hash, and one of the
 * host's start and the space that its process ids count in.
 */
export type ProcessName = string;

// The clock of a file system, and one that was set in between, may be off by this.
const BOOT_SLACK_MS = 5_000;

let own: ProcessName | undefined;
let place: string | undefined;

/** Names this process. */
export function ownProcessName(): ProcessName {
  return (own ??= `${process.pid}-${startOf(process.pid) ?? "0"}-${ownPlace()}`);
}

/**
 * Whether it lives: `elsewhere` when it runs on another host or in another space of process ids, where nobody here can
 * look. `seenMs`: when it last showed that it lives; what this host has done before its start has ended.
 */
export function lookAfter(name: ProcessName, seenMs = Date.now()): "alive" | "dead" | "elsewhere" {
  const [pidText = "", start = "0", its = ""] = name.split("-");
  const pid = Number(pidText);
  if (its !== ownPlace()) return its.startsWith(hostHash()) && isBeforeBoot(seenMs) ? "dead" : "elsewhere";
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
      // Where /proc is that of another space, its numbers are those of other processes.
      if (readlinkSync("/proc/self") !== String(process.pid)) return undefined;
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

function ownPlace(): string {
  return (place ??= `${hostHash()}${hash(pidSpace())}`);
}

function pidSpace(): string {
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    // Only Linux has more than one on a host.
    return "";
  }
}

function isBeforeBoot(ms: number): boolean {
  return ms < Date.now() - uptime() * 1_000 - BOOT_SLACK_MS;
}

function hostHash(): string {
  return hash(hostname());
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
