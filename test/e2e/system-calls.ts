/**
 * What a process really does, as the kernel of the machine tells it: strace, read line by line.
 *
 *   strace -f -y ─► log ─► calls of all threads in order ─► runs · connects · changes · opens, inside a folder or anywhere
 *
 * A process that opens `/mark/<name>`, which is not there, begins a part of its trace.
 */
import { spawnSync } from "node:child_process";
import { createReadStream, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { createInterface } from "node:readline";

/** Calls that run, connect, or change what is at a path. `?`: not on every machine. */
const RUNNING = ["execve", "execveat"];
const TALKING = ["connect", "bind", "listen", "sendto", "sendmsg", "sendmmsg"];
const OPENING = ["open", "openat", "openat2", "creat"];
const CHANGING = (
  "mkdir mkdirat mknod mknodat rename renameat renameat2 rmdir unlink unlinkat symlink symlinkat link linkat truncate " +
  "ftruncate fallocate chmod fchmod fchmodat fchmodat2 chown lchown fchown fchownat utime utimes futimesat utimensat " +
  "setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr mount umount2 pivot_root"
).split(" ");
// Work handed over by a ring that the system polls would not be seen; libuv keeps another one, for waiting only.
const HIDING = ["io_uring_setup"];
const TRACED = [...RUNNING, ...TALKING, ...OPENING, ...CHANGING, ...HIDING].map((name) => `?${name}`).join(",");

/** What libuv must not use, for the same reason. */
export const TRACED_ENVIRONMENT = { UV_USE_IO_URING: "0" };

/** Says what is missing for a trace on this machine; `undefined` when nothing is. */
export function lackForTrace(): string | undefined {
  const { error, status } = spawnSync("strace", ["-f", "--seccomp-bpf", "-o", "/dev/null", "true"]);
  if (error) return "needs strace";
  return status === 0 ? undefined : "needs ptrace";
}

/** The start of a command line that writes the trace of the rest of it to `log`. */
export function traceTo(log: string): [string, ...string[]] {
  return ["strace", "-f", "-y", "-qq", "--seccomp-bpf", "-e", `trace=${TRACED}`, "-e", "signal=none", "-o", log, "--"];
}

export interface Trace {
  /** What was executed beside the traced command itself, or tried to be. */
  runs: string[];
  /** Addresses of sockets that were connected, bound or sent to, and where in the trace. */
  connects: { address: string; at: number }[];
  /** Calls that would change something inside the folder. */
  changes: string[];
  /** Files inside the folder that were opened, by their path below it. */
  opened: Set<string>;
  /** Where in the trace the last one was. */
  lastOpenAt: number;
}

/** Reads a trace by its parts, the first of which is `start`. `folder` is a real path. Fails when there is nothing in it. */
export async function readTrace(log: string, folder: string, cwd = folder): Promise<Map<string, Trace>> {
  let part = createTrace();
  const parts = new Map([["start", part]]);
  let at = 0;
  for await (const call of readCalls(log)) {
    at++;
    const mark = /"\/mark\/([^"]*)"/.exec(call.text)?.[1];
    // The first call is the traced command itself.
    if (mark === undefined) note(call, { part, at, folder, cwd, isFirst: at === 1 });
    else parts.set(mark, (part = createTrace()));
  }
  if (at === 0) throw new Error(`There is nothing in the trace ${log}.`);
  return parts;
}

function createTrace(): Trace {
  return { runs: [], connects: [], changes: [], opened: new Set(), lastOpenAt: -1 };
}

interface Noting {
  part: Trace;
  at: number;
  folder: string;
  cwd: string;
  isFirst: boolean;
}

function note(call: Call, { part, at, folder, cwd, isFirst }: Noting): void {
  const { name, text } = call;
  const isInside = (path: string) => path === folder || path.startsWith(`${folder}/`);
  if (RUNNING.includes(name) && !isFirst) part.runs.push(text);
  if (HIDING.includes(name) && /flags=[^,]*IORING_SETUP_SQPOLL/.test(text)) part.changes.push(text);
  const address = TALKING.includes(name) ? addressIn(text) : undefined;
  if (address !== undefined) part.connects.push({ address, at });
  if (CHANGING.includes(name) && pathsIn(call, cwd).some(isInside)) part.changes.push(text);
  if (!OPENING.includes(name) || isAbsent(text)) return;
  const path = openedPath(call, cwd);
  if (!isInside(path)) return;
  if (name === "creat" || /O_(WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)/.test(text)) part.changes.push(text);
  else if (!isFolder(path)) {
    part.opened.add(relative(folder, path));
    part.lastOpenAt = at;
  }
}

interface Call {
  name: string;
  text: string;
}

/** The calls in the order of their ends; a call that another thread interrupted is put together again. */
async function* readCalls(log: string): AsyncGenerator<Call> {
  const open = new Map<string, string>();
  for await (const line of createInterface({ input: createReadStream(log) })) {
    const [, thread = "", rest = ""] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    const begun = /^(.*?)\s*<unfinished \.\.\.>$/.exec(rest)?.[1];
    if (begun !== undefined) {
      open.set(thread, begun);
      continue;
    }
    const ended = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)?.[1];
    const text = ended === undefined ? rest : `${open.get(thread) ?? ""}${ended}`;
    open.delete(thread);
    const name = /^(\w+)\(/.exec(text)?.[1];
    if (name) yield { name, text };
  }
  // What had not ended when the trace did was asked for all the same.
  for (const text of open.values()) yield { name: /^\w+/.exec(text)?.[0] ?? "", text };
}

// `AT_FDCWD</from>, "path"`, `21</from>, "path"`, or `"path"` alone.
const PATH = /(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"/g;

function pathsIn({ name, text }: Call, cwd: string): string[] {
  const named = [...text.matchAll(PATH)].map(([, from, path = ""]) => realPath(resolve(from ?? cwd, unquote(path))));
  // What a link leads to is text.
  const places = name.startsWith("symlink") ? named.slice(1) : name.includes("xattr") ? named.slice(0, 1) : named;
  const descriptor = /^\w+\(\d+<(\/[^>]*)>[,)]/.exec(text)?.[1];
  return descriptor === undefined ? places : [...places, unquote(descriptor)];
}

/** The path that the system opened, else the one that was asked for. */
function openedPath(call: Call, cwd: string): string {
  const opened = / = \d+<(\/.*)>$/.exec(call.text)?.[1];
  return opened === undefined ? (pathsIn(call, cwd)[0] ?? "/") : unquote(opened);
}

function isAbsent(text: string): boolean {
  return / = -1 (ENOENT|ENOTDIR) /.test(text) && !text.includes("O_CREAT");
}

function addressIn(text: string): string | undefined {
  const family = /sa_family=(AF_\w+)/.exec(text)?.[1];
  if (family === undefined) return undefined;
  const port = /port=htons\((\d+)\)/.exec(text)?.[1];
  const host = /inet_(?:addr|pton)\((?:AF_INET6, )?"([^"]*)"/.exec(text)?.[1];
  return host === undefined ? `${family} ${/sun_path=@?"([^"]*)"/.exec(text)?.[1] ?? ""}` : `${host}:${port}`;
}

/** strace writes what is not ASCII in octal. */
function unquote(text: string): string {
  const bytes = text.replace(
    /\\(?:([0-7]{1,3})|x([0-9a-f]{2})|(.))/g,
    (_, octal?: string, hex?: string, plain = "") => {
      if (octal === undefined && hex === undefined)
        return ({ n: "\n", t: "\t", r: "\r" } as Record<string, string>)[plain] ?? plain;
      return String.fromCharCode(octal === undefined ? Number.parseInt(hex ?? "", 16) : Number.parseInt(octal, 8));
    },
  );
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** Resolves the folders above, as a call that makes or removes the last name does. */
function realPath(path: string): string {
  if (!isAbsolute(path)) return path;
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
