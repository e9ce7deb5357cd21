/** `pi list` with 100 packages: 150 ms in all, from the shell's point of view. */
import { join } from "node:path";
import { PI_BIN } from "@pi-agent/testing/house";
import { installPackages } from "./installed-packages.ts";
import { interleave, runNode } from "./processes.ts";
import type { Ratio } from "./run.ts";

const COUNT = 100;
const LIMIT_MS = 150;

export async function run(): Promise<Ratio[]> {
  await using installed = await installPackages(COUNT);
  const env = { PATH: process.env.PATH, HOME: installed.home, PI_OFFLINE: "1" };
  const command = { args: [PI_BIN, "list"], env, cwd: join(installed.home, "work") };
  const { stdout } = await runNode(command);
  const missing = Array.from({ length: COUNT }, (_, index) => `bench-${index}`).filter(
    (name) => !stdout.includes(name),
  );
  if (missing.length > 0) throw new Error(`pi list leaves out ${missing.join(", ")}: ${stdout.slice(0, 2_000)}`);
  const { list } = await interleave({ list: () => runNode(command) }, { runs: 15, warmUps: 2 });
  // Other work on the machine only adds.
  const least = Math.min(...list.map(({ ms }) => ms));
  console.log(`pi list of ${COUNT} packages: ${least.toFixed(0)} ms`);
  return [{ what: `list-of-${COUNT}-packages-ms/${LIMIT_MS}`, ratio: least / LIMIT_MS, limit: 1 }];
}
