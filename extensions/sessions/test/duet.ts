import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const child = fileURLToPath(new URL("./duet-child.ts", import.meta.url));

/** Another process with an agent on a session file. The test's end kills it. */
export interface Duet {
  pid: number;
  /** What it said when it was there: `ready`, or an error. */
  greeting: string;
  /** Types a line, and waits for the answer. */
  type(line: string): Promise<string>;
  /** Kills it, as a power cut would. */
  kill(): Promise<void>;
  /** Lets it end by itself. */
  end(): Promise<void>;
}

export async function startDuet(file: string, cwd: string): Promise<Duet> {
  const started = spawn(process.execPath, ["--conditions", "@pi-agent/source", child, file], {
    cwd,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const closed = new Promise<void>((resolve) => started.once("close", () => resolve()));
  const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => (await lines.next()).value ?? "gone";
  const kill = async () => {
    started.kill("SIGKILL");
    await closed;
  };
  onTestFinished(kill);
  return {
    pid: started.pid!,
    greeting: await next(),
    async type(line) {
      started.stdin.write(`${line}\n`);
      return next();
    },
    kill,
    async end() {
      started.stdin.end();
      await closed;
    },
  };
}
