/**
 * Ends everything that a command started.
 *
 *   the command's process group ─┐
 *   children of those, and theirs ├─► SIGTERM ─► grace ─► SIGKILL, until none is found
 *   whoever carries its mark ────┘    (also those with a session of their own, or an adopted parent)
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { TERMINATE_GRACE_MS } from "./limits.ts";

/** The environment variable whose value tells whose a process is. Nested agents add their marks with commas. */
export const MARK_VARIABLE = "PI_COMMAND_MARK";

export interface ProcessRoot {
  /** The leader of the process group. */
  pid: number;
  /** The command's part of `MARK_VARIABLE`. */
  mark: string;
}

export interface FoundProcess {
  pid: number;
  name: string;
}

interface ProcessEntry extends FoundProcess {
  parent: number;
  group: number;
  isDead: boolean;
}

// Looking at every process of a machine takes milliseconds.
const FIRST_POLL_MS = 10;
const MAX_POLL_MS = 100;
const MAX_KILL_ROUNDS = 10;
const hasProc = process.platform === "linux";

/** Tells whether the process group has members, dead ones that nobody waited for among them. */
export function hasGroup(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Finds what is left of a command that ended long ago: its group's number may be another's by now. */
export function findLeft(root: ProcessRoot): FoundProcess[] {
  const found = findTree(root);
  return !hasProc || found.some(({ pid }) => hasMark(pid, root.mark)) ? found : [];
}

/** Finds the living processes of a command. */
export function findTree(root: ProcessRoot): FoundProcess[] {
  const living = listProcesses().filter(({ pid, isDead }) => !isDead && pid !== process.pid && pid > 1);
  const found = new Set(living.filter((entry) => belongs(entry, root)));
  const pids = new Set(Array.from(found, ({ pid }) => pid));
  for (let grew = true; grew; ) {
    grew = false;
    for (const entry of living) {
      if (found.has(entry) || !pids.has(entry.parent)) continue;
      found.add(entry);
      pids.add(entry.pid);
      grew = true;
    }
  }
  return Array.from(found, ({ pid, name }) => ({ pid, name }));
}

/** Ends the processes of a command; answers those that could not be ended. */
export async function endTree(root: ProcessRoot, graceMs = TERMINATE_GRACE_MS): Promise<FoundProcess[]> {
  if (process.platform === "win32") return endOnWindows(root.pid);
  const asked = findTree(root);
  signalAll(asked, "SIGTERM");
  // A stopped process only notices when it goes on.
  signalAll(asked, "SIGCONT");
  const deadline = performance.now() + graceMs;
  let left = findTree(root);
  for (let waitMs = FIRST_POLL_MS; left.length > 0 && performance.now() < deadline; waitMs *= 2) {
    await delay(Math.min(waitMs, MAX_POLL_MS));
    left = findTree(root);
  }
  for (let round = 0; left.length > 0 && round < MAX_KILL_ROUNDS; round++) {
    signalAll(left, "SIGKILL");
    await delay(FIRST_POLL_MS * (round + 1));
    left = findTree(root);
  }
  return left;
}

/** Kills the processes of a command without waiting for them. */
export function killTree(root: ProcessRoot): void {
  if (process.platform === "win32") endOnWindows(root.pid);
  else signalAll(findTree(root), "SIGKILL");
}

function belongs({ pid, group }: ProcessEntry, { pid: leader, mark }: ProcessRoot): boolean {
  return group === leader || hasMark(pid, mark);
}

function hasMark(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`).includes(mark);
  } catch {
    // Gone, or not ours to look at; and where there is no /proc, marks cannot be read.
    return false;
  }
}

function signalAll(processes: readonly FoundProcess[], signal: NodeJS.Signals): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, signal);
    } catch {
      // Gone meanwhile, or not ours: then it is found again and named.
    }
  }
}

function listProcesses(): ProcessEntry[] {
  return hasProc ? listFromProc() : listFromPs();
}

function listFromProc(): ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      entries.push(parseStat(readFileSync(`/proc/${name}/stat`, "latin1")));
    } catch {
      // It ended between the listing and the look.
    }
  }
  return entries;
}

/** `pid (name) state parent group …`; the name may hold blanks and parentheses. */
function parseStat(stat: string): ProcessEntry {
  const open = stat.indexOf("(");
  const close = stat.lastIndexOf(")");
  const [state, parent, group] = stat.slice(close + 2).split(" ", 3);
  return {
    pid: Number(stat.slice(0, open)),
    name: stat.slice(open + 1, close),
    parent: Number(parent),
    group: Number(group),
    isDead: state === "Z" || state === "X",
  };
}

/** The way of other Unix systems. */
export function listFromPs(): ProcessEntry[] {
  const { stdout } = spawnSync("/bin/ps", ["-A", "-o", "pid=,ppid=,pgid=,state=,comm="], { encoding: "utf8" });
  return (stdout ?? "").split("\n").flatMap((line) => {
    const [, pid, parent, group, state, name] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined) return [];
    return [
      { pid: Number(pid), parent: Number(parent), group: Number(group), isDead: state!.startsWith("Z"), name: name! },
    ];
  });
}

function endOnWindows(pid: number): FoundProcess[] {
  spawnSync(`${process.env.SystemRoot ?? "C:\\Windows"}\\System32\\taskkill.exe`, ["/F", "/T", "/PID", String(pid)], {
    windowsHide: true,
  });
  return [];
}
