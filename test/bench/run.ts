/**
 * Runs a benchmark by name, or all of them: `pnpm bench [name]`. Each prints lines `ratio <what> <ours/theirs> <limit>`.
 * The exit code is 1 when a ratio is above its limit.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(".bench.ts"))
  .map((file) => file.replace(".bench.ts", ""));
const [wanted] = process.argv.slice(2);
if (wanted && !names.includes(wanted)) {
  console.error(`There is no benchmark ${wanted}. There are: ${names.join(", ")}.`);
  process.exit(2);
}
let lines = 0;
let above = 0;
for (const name of wanted ? [wanted] : names) {
  const benchmark = (await import(join(import.meta.dirname, `${name}.bench.ts`))) as { run(): Promise<Ratio[]> };
  for (const { what, ratio, limit } of await benchmark.run()) {
    console.log(`ratio ${what} ${ratio.toPrecision(3)} ${limit}`);
    lines++;
    // Also for a ratio that is no number.
    if (!(ratio <= limit)) above++;
  }
}
console.log(`${above} of ${lines} lines above their limit`);
if (above > 0) process.exitCode = 1;

export interface Ratio {
  what: string;
  /** Ours divided by theirs, the median over interleaved runs. */
  ratio: number;
  limit: number;
}
