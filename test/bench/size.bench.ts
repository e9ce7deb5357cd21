/** How much kernel there is to load, and to read. */
import { globSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { parseSync } from "oxc-parser";
import { bundleKernel, KERNEL } from "./built-kernel.ts";
import type { Ratio } from "./run.ts";

const LIMIT_BYTES = 50 * 1024;
const LIMIT_LINES = 1_500;

export async function run(): Promise<Ratio[]> {
  const bytes = Buffer.byteLength(await bundleKernel({ typebox: false }));
  const sources = globSync("**/*.ts", { cwd: KERNEL }).map((file) => readFileSync(join(KERNEL, file), "utf8"));
  const runtime = sources.map((source) => stripTypeScriptTypes(source));
  return [
    { what: `minified-bytes-without-typebox/${LIMIT_BYTES}`, ratio: bytes / LIMIT_BYTES, limit: 1 },
    { what: `runtime-lines-without-types/${LIMIT_LINES}`, ratio: countLines(runtime) / LIMIT_LINES, limit: 1 },
    { what: `source-lines-with-types/${LIMIT_LINES}`, ratio: countLines(sources) / LIMIT_LINES, limit: 1 },
  ];
}

/** Counts the lines that hold more than comments. */
function countLines(sources: readonly string[]): number {
  return sources.flatMap((source) => withoutComments(source).split("\n")).filter((line) => line.trim() !== "").length;
}

function withoutComments(source: string): string {
  const { comments } = parseSync("source.ts", source);
  return comments.reduce(
    (code, { start, end }) => code.slice(0, start) + code.slice(start, end).replace(/[^\n]/g, " ") + code.slice(end),
    source,
  );
}
