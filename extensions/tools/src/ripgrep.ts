import { spawn } from "node:child_process";
import { ToolFailure } from "./result.ts";

export interface RipgrepRequest {
  args: readonly string[];
  cwd: string;
  signal: AbortSignal | undefined;
  /** Called for every line of output; answering `false` ends the search. */
  onLine: (line: string) => boolean;
}

export interface RipgrepExit {
  /** 0 something found, 1 nothing found, 2 something could not be searched; `null` when it was ended. */
  code: number | null;
  stderr: string;
}

/** A longer line of output is left out. */
const MAX_LINE_LENGTH = 16 * 1_024 * 1_024;
const MAX_STDERR_LENGTH = 4_096;
// What decides about a person's own ignore rules, and nothing that could steer the search.
const PASSED_VARIABLES = ["HOME", "XDG_CONFIG_HOME", "USERPROFILE", "APPDATA", "SYSTEMROOT"];

/** Runs the bundled ripgrep. Fails with `no_ripgrep`; an abort ends it. */
export async function runRipgrep({ args, cwd, signal, onLine }: RipgrepRequest): Promise<RipgrepExit> {
  const program = await programPath();
  const { promise, resolve, reject } = Promise.withResolvers<RipgrepExit>();
  const child = spawn(program, args, {
    cwd,
    env: Object.fromEntries(PASSED_VARIABLES.map((name) => [name, process.env[name]])),
    stdio: ["ignore", "pipe", "pipe"],
    windowsHide: true,
  });
  let stderr = "";
  let isEnded = false;
  const end = () => {
    isEnded = true;
    child.kill();
  };
  signal?.addEventListener("abort", end);
  child.stdout.setEncoding("utf8").on(
    "data",
    createLineReader((line) => {
      if (!isEnded && !onLine(line)) end();
    }),
  );
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    if (stderr.length < MAX_STDERR_LENGTH) stderr += text;
  });
  child.on("error", (cause) => reject(noRipgrep(cause)));
  child.on("close", (code) => resolve({ code: isEnded ? null : code, stderr }));
  try {
    return await promise;
  } finally {
    signal?.removeEventListener("abort", end);
  }
}

function createLineReader(onLine: (line: string) => void): (text: string) => void {
  let open: string[] = [];
  let length = 0;
  return (text) => {
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      const rest = text.slice(start, end);
      if (length + rest.length <= MAX_LINE_LENGTH) onLine(open.length > 0 ? open.join("") + rest : rest);
      open = [];
      length = 0;
      start = end + 1;
    }
    length += text.length - start;
    if (length > MAX_LINE_LENGTH) open = [];
    else open.push(text.slice(start));
  };
}

async function programPath(): Promise<string> {
  try {
    return (await import("@vscode/ripgrep")).rgPath;
  } catch (cause) {
    throw noRipgrep(cause);
  }
}

function noRipgrep(cause: unknown): ToolFailure {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ToolFailure("no_ripgrep", `ripgrep (rg) could not be run: ${reason}`, "Search with grep in bash instead.");
}
