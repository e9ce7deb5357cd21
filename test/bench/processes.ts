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
  const time = async (command: Command) => ({ ms: (await runNode(command)).ms });
  const rounds = await interleave({ ours: () => time(ours), theirs: () => time(theirs) }, { runs, warmUps: 2 });
  return medianRatio(rounds.ours, rounds.theirs, "ms");
}

/** Runs every side that is there once a round, in turn, and answers the figures of each side by round. */
export async function interleave<S extends string, F>(
  sides: Record<S, (() => Promise<F>) | undefined>,
  { runs = 5, warmUps = 0 } = {},
): Promise<Record<S, F[]>> {
  const names = Object.keys(sides) as S[];
  const rounds = Object.fromEntries(names.map((name) => [name, [] as F[]])) as Record<S, F[]>;
  for (let round = -warmUps; round < runs; round++) {
    for (const name of names) {
      const figures = await sides[name]?.();
      if (figures && round >= 0) rounds[name].push(figures);
    }
  }
  return rounds;
}

/** The median over rounds of ours divided by theirs. */
export function medianRatio<K extends string>(
  ours: readonly Record<K, number>[],
  theirs: readonly Record<K, number>[],
  figure: K,
): number {
  return median(ours.map((each, round) => each[figure] / theirs[round]![figure]));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * Runs a Node program to its end; fails when it does not end with 0.
 * Not spawnSync: the server that answers may live in this process.
 */
export async function runNode({ args, env, cwd }: Command): Promise<{ ms: number; stdout: string }> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { env, cwd, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => (stdout += String(chunk)));
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  const [status] = (await once(child, "close")) as [number | null];
  const ms = performance.now() - startedAt;
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}: ${stderr}`);
  return { ms, stdout };
}
