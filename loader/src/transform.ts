import { hash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TransformOptions, TransformResult } from "jiti";

// What the cached text depends on beside its source. Change it with them.
export const TRANSFORM_VERSION = "jiti 2.7.0, sucrase 3.35.1";
const END = "\n//# pi-agent: complete";

/**
 * Makes jiti's `transform`, whose results are kept by content in `cacheDir`, which is made for this user alone.
 * `compile` is asked for what is not there yet.
 */
export function createTransform(options: {
  cacheDir: string;
  compile(options: TransformOptions): string;
}): (given: TransformOptions) => TransformResult {
  return (given) => {
    const path = join(options.cacheDir, `${keyOf(given)}.js`);
    const known = readKept(path);
    if (known !== undefined) return { code: known };
    const code = options.compile(given);
    // jiti hands a syntax error on as code that throws it.
    if (!code.includes("__JITI_ERROR__")) keep(options.cacheDir, path, code);
    return { code };
  };
}

/** Tells whether the result for an entry of an extension is kept already. */
export function isEntryKept(cacheDir: string, filename: string, source: string): boolean {
  const ts = /\.[cm]?tsx?$/.test(filename);
  const key = keyOf({ source, filename, ts, async: true, jsx: false, interopDefault: true });
  return existsSync(join(cacheDir, `${key}.js`));
}

function keyOf({ source, filename, ts, async, jsx, interopDefault }: TransformOptions): string {
  // The compiler writes a file's own address into the text.
  const place = /\bmeta\b/.test(source) ? filename : undefined;
  const flags = JSON.stringify([TRANSFORM_VERSION, ts, async, jsx, interopDefault, place]);
  return hash("sha256", `${flags}\n${source}`);
}

function readKept(path: string): string | undefined {
  try {
    const text = readFileSync(path, "utf8");
    return text.endsWith(END) ? text.slice(0, -END.length) : undefined;
  } catch {
    return undefined;
  }
}

function keep(folder: string, path: string, code: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const draft = `${path}.${process.pid}.tmp`;
    writeFileSync(draft, code + END, { mode: 0o600 });
    renameSync(draft, path);
  } catch {
    // Without a cache the next start compiles again; nothing else is lost.
  }
}
