/** Runs files of this package as processes of their own, from source, and the command as built. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

interface Place {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
}

/** Starts a fixture; its output is collected by `finish`. */
export function startFixture(name: string, args: readonly string[] = [], at: Place = {}): ChildProcess {
  return start(["--conditions", "@pi-agent/source", pathOf(`fixtures/${name}`), ...args], at);
}

/** Starts the command; its output is collected by `finish`. */
export function startPi(args: readonly string[], at: Place = {}): ChildProcess {
  return start([pathOf("../bin/pi.js"), ...args], at);
}

function start(args: readonly string[], { env, cwd }: Place): ChildProcess {
  return spawn(process.execPath, args, { cwd, env: { ...process.env, NO_COLOR: "1", ...env } });
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}

/** Waits for a process and everything that it wrote. */
export async function finish(child: ChildProcess): Promise<Finished> {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

/** Resolves when the process has written `text` to the stream. */
export function waitFor(stream: NodeJS.ReadableStream | null, text: string): Promise<void> {
  let seen = "";
  return new Promise((resolve, reject) => {
    stream?.on("data", (chunk: Buffer | string) => {
      seen += String(chunk);
      if (seen.includes(text)) resolve();
    });
    stream?.on("close", () => reject(new Error(`ended before it wrote ${JSON.stringify(text)}: ${seen}`)));
  });
}
