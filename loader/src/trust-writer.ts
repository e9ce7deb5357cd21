/**
 * Writes down what a person decided about a project.
 *
 *   lock of trust.d ─► record, in place of the old one ─► trust.json, under Pi's lock ─► texts for later diffs
 *                                                              └─ read again, as the next start will
 *
 * 1. Whatever fails, every file is whole: as it was, or as it is to be.
 * 2. The record comes first: a no holds as soon as one of the two files has it, a yes when no file says no.
 * 3. What is damaged is set aside, what is linked is not followed; neither is overwritten.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { AgentError } from "@pi-agent/kernel";
import { dropContents, keepContents } from "./kept-contents.ts";
import { isLocked, removeDrafts, replaceFile, setAside, withLock } from "./locked-file.ts";
import { makeOwnFolder } from "./own-folder.ts";
import { lookAt } from "./places.ts";
import { changePlain, LOCK_WAIT_MS, type PlainWord, readPlainWord } from "./plain-trust.ts";
import { toPrintable } from "./printable.ts";
import { parseTrustFile, readTrustFile, wordTrustFault } from "./trust-file.ts";
import { readTrust, recordPath, type TrustRecord } from "./trust-store.ts";

/** What is to be remembered about a project. */
export interface TrustChange extends Pick<TrustRecord, "decision" | "bound" | "below" | "decidedBy" | "resources"> {
  /** The boundary's real path. */
  key: string;
  /** Bytes of members by digest; the texts among them are kept for later diffs. */
  contents?: ReadonlyMap<string, Buffer>;
}

/** Remembers a decision in place of what was known about the project. Fails with `trust_not_saved`. */
export async function remember(agentDir: string, change: TrustChange): Promise<void> {
  await rememberOver(agentDir, change.key, () => change);
}

/**
 * Remembers what `word` makes of the project's record as it is now, which nobody else changes meanwhile; `undefined`
 * leaves all as it is. Fails with `trust_not_saved`.
 */
export async function rememberOver(
  agentDir: string,
  key: string,
  word: (before: TrustRecord | undefined) => TrustChange | undefined,
): Promise<void> {
  await changeStore(agentDir, key, async (before, assertHeld) => {
    const change = word(before);
    if (!change) return;
    const { contents = new Map(), ...said } = change;
    const record = toRecord(said);
    await writeRecord(recordPath(agentDir, key), record, assertHeld);
    await changePlain(agentDir, key, (plain) => wordPlain(plain, record, before));
    await keepContents(agentDir, record, contents);
    await dropContents(agentDir, before, record);
    assertCounts(agentDir, record);
  });
}

/** Takes back what is remembered about a project. Answers whether anything was. Fails with `trust_not_saved`. */
export async function forget(agentDir: string, key: string): Promise<boolean> {
  if (!isKnown(agentDir, key)) return false;
  await changeStore(agentDir, key, async (before) => {
    await changePlain(agentDir, key, (plain) => wordPlain(plain, undefined, before));
    await rm(recordPath(agentDir, key), { force: true });
    await dropContents(agentDir, before);
  });
  return true;
}

function isKnown(agentDir: string, key: string): boolean {
  try {
    return lookAt(recordPath(agentDir, key)) !== undefined || readPlainWord(agentDir, key) === false;
  } catch {
    // It is damaged, and may have said something.
    return true;
  }
}

async function changeStore(
  agentDir: string,
  key: string,
  change: (before: TrustRecord | undefined, assertHeld: () => void) => Promise<void>,
): Promise<void> {
  const folder = join(agentDir, "trust.d");
  try {
    await mkdir(agentDir, { recursive: true, mode: 0o700 });
    await withLock(folder, LOCK_WAIT_MS, async (assertHeld) => {
      await makeOwnFolder(folder);
      await removeDrafts(recordPath(agentDir, key));
      await change(await readOrSetAside(recordPath(agentDir, key), key), assertHeld);
    });
  } catch (cause) {
    throw notSaved(key, cause, folder);
  }
}

async function readOrSetAside(path: string, key: string): Promise<TrustRecord | undefined> {
  if (!lookAt(path)) return undefined;
  try {
    const record = readTrustFile(path, "record");
    if (record.project === key) return record;
  } catch {
    // Whatever it is: it is kept, and nothing reads it.
  }
  await setAside(path);
  return undefined;
}

function toRecord({ key: project, ...said }: Omit<TrustChange, "contents">): TrustRecord {
  return { version: 1, project, ...said, decidedAt: new Date().toISOString() };
}

async function writeRecord(path: string, record: TrustRecord, assertHeld: () => void): Promise<void> {
  const text = `${JSON.stringify(record, null, 2)}\n`;
  try {
    parseTrustFile(Buffer.from(text), "record");
  } catch (cause) {
    throw new Error(`its record could not be read again, because ${wordTrustFault(cause)}`, { cause });
  }
  await replaceFile(path, text, { assertHeld });
}

/** What Pi is told: a no, or a yes to whatever the folder becomes. Its own yes is taken back only where it was ours. */
function wordPlain(said: PlainWord, record: TrustRecord | undefined, before: TrustRecord | undefined): PlainWord {
  if (record?.decision === "denied") return false;
  if (record && isFolderYes(record)) return true;
  const isOurs = said === true && before !== undefined && isFolderYes(before);
  return said === false || isOurs ? undefined : said;
}

function isFolderYes({ decision, bound }: TrustRecord): boolean {
  return decision === "trusted" && bound === "folder";
}

function assertCounts(agentDir: string, { project, decision }: TrustRecord): void {
  const { denial, approvals, notes } = readTrust(agentDir, project);
  const isYes = approvals.some((record) => record.project === project);
  if (decision === "denied" ? denial : isYes && !denial) return;
  if (denial) throw new Error(`${denial} says no about a folder above it, which holds for all that is below`);
  throw new Error(notes.map(({ path, message }) => `${path}: ${message}`).join("; "));
}

function notSaved(key: string, cause: unknown, folder: string): AgentError {
  const isHeld = isLocked(cause);
  const why = isHeld ? `another process is holding a lock in ${folder}` : wordTrustFault(cause);
  const message = `What you said about ${toPrintable(key)} was not saved, and counts for this run only: ${why}.`;
  return new AgentError("trust_not_saved", message, {
    hint: isHeld
      ? `Say it again; if no other pi is running, remove ${folder}.lock and trust.json.lock beside it.`
      : "Put that right, then say it again. pi trust list shows what is remembered.",
    cause,
  });
}
