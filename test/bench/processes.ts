import { spawn } from "node:child_process";
import { once } from "node:events";

export interface Command {
  args: string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
}

/**
 * Times two Node programs turn about (A B A B …) as whole processes, and answers the median of the ratios of
 * neighbouring runs, so that the drift of a busy machine cancels. A run that fails is an error, never a figure.
 */
export async function compareProcesses(ours: Command, theirs: Command, runs = 20): Promise<number> {
  const ratios: number[] = [];
  for (let i = -2; i < runs; i++) {
    const ratio = (await time(ours)) / (await time(theirs));
    if (i >= 0) ratios.push(ratio);
  }
  return median(ratios);
}

/** Not spawnSync: the server that answers may live in this process. */
async function time({ args, env, cwd }: Command): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { env, cwd, stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  const [status] = (await once(child, "close")) as [number | null];
  const ms = performance.now() - startedAt;
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}: ${stderr}`);
  return ms;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
