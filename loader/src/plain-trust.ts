/** Writes Pi's `trust.json` as Pi does: keys sorted, two spaces, a newline at the end, under Pi's own lock. */
import { Refusal } from "./file-view.ts";
import { removeDrafts, replaceFile, setAside, withLock } from "./locked-file.ts";
import { lookAt } from "./places.ts";
import { type PlainTrust, readTrustFile } from "./trust-file.ts";
import { plainPath } from "./trust-store.ts";

/** What the file says of one folder; `undefined` and `null`: nothing. */
export type PlainWord = boolean | null | undefined;

// A process that died leaves a lock that counts for 10 s; twenty that decide at once on a busy machine take their time.
export const LOCK_WAIT_MS = 30_000;

/**
 * Changes what Pi's file says of one folder to what `choose` makes of it; a damaged file is set aside first. Fails as
 * reading and writing do, and for what is no regular file.
 */
export async function changePlain(
  agentDir: string,
  key: string,
  choose: (said: PlainWord) => PlainWord,
): Promise<void> {
  const path = plainPath(agentDir);
  // Pi gives up after 200 ms of waiting: its lock is taken only where there is something to do.
  if (!needsChange(path, key, choose)) return;
  await withLock(path, LOCK_WAIT_MS, async (assertHeld) => {
    await removeDrafts(path);
    const plain = await readOrSetAside(path);
    const next = choose(sayingOf(plain, key));
    if (next === undefined) delete plain[key];
    else plain[key] = next;
    await replaceFile(path, format(plain), { assertHeld });
  });
}

/** What Pi's file says of one folder. Fails as reading does. */
export function readPlainWord(agentDir: string, key: string): PlainWord {
  const path = plainPath(agentDir);
  return lookAt(path) ? sayingOf(readTrustFile(path, "plain"), key) : undefined;
}

function needsChange(path: string, key: string, choose: (said: PlainWord) => PlainWord): boolean {
  if (!lookAt(path)) return choose(undefined) !== undefined;
  try {
    const said = sayingOf(readTrustFile(path, "plain"), key);
    return choose(said) !== said;
  } catch {
    // Damaged, or being written by Pi just now: the lock tells.
    return true;
  }
}

async function readOrSetAside(path: string): Promise<PlainTrust> {
  try {
    return lookAt(path) ? readTrustFile(path, "plain") : {};
  } catch (thrown) {
    // A link leads to what somebody keeps elsewhere on purpose.
    if (thrown instanceof Refusal) throw new Error(`${path} ${thrown.message}`, { cause: thrown });
    if (isSystemError(thrown)) throw thrown;
    await setAside(path);
    return {};
  }
}

function isSystemError(thrown: unknown): boolean {
  return thrown instanceof Error && "syscall" in thrown;
}

function sayingOf(plain: PlainTrust, key: string): PlainWord {
  return Object.hasOwn(plain, key) ? plain[key] : undefined;
}

function format(plain: PlainTrust): string {
  const sorted = Object.fromEntries(
    Object.keys(plain)
      .sort()
      .map((key) => [key, plain[key]]),
  );
  return `${JSON.stringify(sorted, null, 2)}\n`;
}
