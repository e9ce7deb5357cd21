/** Code that leaves a mark when it runs: its id, as a line of a file. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";

export interface Canary {
  /** A statement of an ES module or of TypeScript. */
  esm: string;
  cjs: string;
  /** A command of a POSIX shell. */
  sh: string;
  /** A whole program for the shell. */
  program: string;
  /** A whole extension, which marks when it is evaluated and when its factory runs. */
  extension: string;
}

/** Makes the canary of an attack. */
export function createCanary(file: string, id: string): Canary {
  const call = `appendFileSync(${JSON.stringify(file)}, ${JSON.stringify(`${id}\n`)})`;
  const esm = `import { appendFileSync } from "node:fs"; ${call};`;
  const sh = `printf '%s\\n' '${id}' >> '${file}'`;
  return {
    esm,
    cjs: `require("node:fs").${call};`,
    sh,
    program: `#!/bin/sh\n${sh}\n`,
    extension: `${esm}\nexport default function () { ${call}; }\n`,
  };
}

/** Leaves a mark, in the name of what a careless loader would have done. */
export function leaveMark(file: string, id: string): void {
  appendFileSync(file, `${id}\n`);
}

/** The ids that left a mark. */
export function readMarks(file: string): Set<string> {
  return new Set(existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : []);
}
