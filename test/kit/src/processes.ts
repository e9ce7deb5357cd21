import { readdirSync, readFileSync } from "node:fs";

export interface ProcessInfo {
  pid: number;
  parentPid: number;
  /** Arguments joined by blanks. */
  command: string;
}

/** Lists the living processes below `pid`, at any depth. Linux only: reads /proc. */
export function childProcessesOf(pid: number): ProcessInfo[] {
  const all = listProcesses();
  const children: ProcessInfo[] = [];
  const parents = [pid];
  for (const parent of parents) {
    for (const info of all) {
      if (info.parentPid !== parent) continue;
      children.push(info);
      parents.push(info.pid);
    }
  }
  return children;
}

/** Lists the living processes that inherited `name=value`, also those whose parent is gone. */
export function processesWithVariable(name: string, value: string): ProcessInfo[] {
  const entry = `${name}=${value}`;
  return listProcesses().filter((info) => readProc(info.pid, "environ")?.split("\0").includes(entry));
}

function listProcesses(): ProcessInfo[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? []);
}

/** A process may end while it is looked at; a zombie has ended and only waits to be counted. */
function readProcess(pid: number): ProcessInfo | undefined {
  const stat = readProc(pid, "stat");
  // The second field is the name in brackets, and may hold blanks and brackets itself.
  const [state, parent] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
  if (state === undefined || state === "Z" || state === "X") return undefined;
  const command = readProc(pid, "cmdline")?.split("\0").join(" ").trim() ?? "";
  return { pid, parentPid: Number(parent), command };
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}
