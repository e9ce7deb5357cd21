/** Runs a benchmark by name, or all of them: `pnpm bench [name]`. Each prints lines `ratio <what> <ours/theirs> <limit>`. */
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
for (const name of wanted ? [wanted] : names) {
  const benchmark = (await import(join(import.meta.dirname, `${name}.bench.ts`))) as { run(): Promise<Ratio[]> };
  for (const { what, ratio, limit } of await benchmark.run()) console.log(`ratio ${what} ${ratio.toFixed(2)} ${limit}`);
}

export interface Ratio {
  what: string;
  /** Ours divided by theirs, the median over interleaved runs. */
  ratio: number;
  limit: number;
}
