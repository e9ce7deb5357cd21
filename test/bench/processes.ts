import { spawnSync } from "node:child_process";

export interface Command {
  args: string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
}

/**
 * Times two Node programs turn about (A B A B …) as whole processes, and answers the median of the ratios of
 * neighbouring runs, so that the drift of a busy machine cancels. A run that fails is an error, never a figure.
 */
export function compareProcesses(ours: Command, theirs: Command, runs = 20): number {
  const ratios: number[] = [];
  for (let i = -2; i < runs; i++) {
    const ratio = time(ours) / time(theirs);
    if (i >= 0) ratios.push(ratio);
  }
  return median(ratios);
}

function time({ args, env, cwd }: Command): number {
  const startedAt = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env, cwd, stdio: ["ignore", "ignore", "pipe"] });
  const ms = performance.now() - startedAt;
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}: ${stderr.toString()}`);
  return ms;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
