/** Which process holds a lease, and whether it still runs. */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname, uptime } from "node:os";
import { isRaw, parseJson } from "./record.ts";
import type { Holder } from "./store.ts";

/** What a lease says of its holder. */
export interface HolderRecord extends Holder {
  type: "lease";
  /** Tells claims of one process apart. */
  token: string;
  /** The machine, since when it runs, and the space that its process ids count in; empty where nobody says. */
  machine: string;
  /** When the process started, in the system's own count; empty where nobody says. */
  started: string;
}

// The clock of a file system, and one that was set in between, may be off by this.
const BOOT_SLACK_MS = 5_000;

/** Describes this process as a holder. */
export function thisHolder(): HolderRecord {
  return {
    type: "lease",
    pid: process.pid,
    host: hostname(),
    since: new Date().toISOString(),
    token: crypto.randomUUID(),
    machine: thisMachine(),
    started: startOf(process.pid),
  };
}

/** Reads what a lease says; `undefined` where it says nothing. */
export function parseHolder(text: string): HolderRecord | undefined {
  const value = parseJson(text);
  if (!isRaw(value) || value.type !== "lease") return undefined;
  const { pid, host, since, token, machine, started } = value;
  if (typeof pid !== "number" || typeof host !== "string" || typeof token !== "string") return undefined;
  const texts = { since: asText(since), machine: asText(machine), started: asText(started) };
  return { type: "lease", pid, host, token, ...texts };
}

/**
 * Tells whether a holder runs, that was there last at `beatMs`: `unknown` where it is one of another machine, or of
 * another space of process ids, and only its heartbeat can tell.
 */
export function stateOf(holder: HolderRecord, beatMs: number): "alive" | "dead" | "unknown" {
  if (holder.host !== hostname()) return "unknown";
  const isHere = holder.machine === thisMachine();
  if (isHere && !isRunning(holder.pid)) return "dead";
  if (isHere && holder.started !== "") return holder.started === startOf(holder.pid) ? "alive" : "dead";
  // A restart ends every process.
  if (beatMs < Date.now() - uptime() * 1_000 - BOOT_SLACK_MS) return "dead";
  return isHere ? "alive" : "unknown";
}

let machine: string | undefined;

function thisMachine(): string {
  machine ??= readMachine();
  return machine;
}

function readMachine(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return "";
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process runs too.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The 22nd field; the second one is a name in brackets that may hold anything. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
