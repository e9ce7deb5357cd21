/**
 * What the agent directory remembers of a person's decisions, as it is read.
 *
 *   trust.json                        Pi's: path → true | false | null
 *   trust.d/<sha256 of key>.json      ours: one record per project, bound to content or to the folder
 *
 * 1. A file that is empty, cut, not JSON, of another version or shape, with repeated or `__proto__` keys, or no regular
 *    file, may have said no: while it is there, nothing counts as a yes for what it could be about (T6).
 * 2. What is another user's, or may be written by others, says no yes. Anybody's no is taken.
 * 3. Any `false` holds, a project's own or an ancestor's. A `true` of Pi's says nothing without a folder-bound record.
 * 4. A record of an ancestor counts where it was made "and below"; an approval never crosses a boundary.
 */
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { foldersUpTo, lookAt } from "./places.ts";
import { toPrintable } from "./printable.ts";
import { type PlainTrust, readTrustFile, type TrustRecord, wordTrustFault } from "./trust-file.ts";

export type { TrustRecord } from "./trust-file.ts";

/** What is remembered about one project. */
export interface StoredTrust {
  /** The file that says no. */
  denial?: string;
  approvals: TrustRecord[];
  /** A file that may say no cannot be believed: nothing counts as a yes, no default either. */
  isDamaged?: true;
  /** Trust files that say nothing because of what is wrong with them, and other things that a person should know. */
  notes: { path: string; message: string }[];
}

/** Everything that is remembered. */
export interface DecisionList {
  /** Sorted by project. `held` of the `resources` do not load. `isGone`: there is nothing at that path any more. */
  decisions: (Omit<TrustRecord, "resources"> & { resources: number; held: number; file: string; isGone: boolean })[];
  /** What Pi's file says, without its `null`s. */
  plain: Record<string, boolean>;
  notes: StoredTrust["notes"];
}

interface ReadRecord {
  record: TrustRecord;
  file: string;
  /** Nobody else can have written it, so that it may say yes. */
  isFirm: boolean;
}

// As patient as Pi is with its own lock.
const READ_AGAIN_MS = 20;
const READ_AGAIN_TIMES = 10;

/** Reads what is remembered about the project with this key. Never fails: what cannot be believed is in `notes`. */
export function readTrust(agentDir: string, key: string): StoredTrust {
  const stored: StoredTrust = { approvals: [], notes: [] };
  const names = new Set(listNames(stored, join(agentDir, "trust.d")));
  const ancestors = foldersUpTo(key, "");
  for (const ancestor of ancestors) {
    if (names.has(recordName(ancestor))) takeRecord(stored, recordPath(agentDir, ancestor), { key, ancestor });
  }
  takePlain(stored, plainPath(agentDir), ancestors);
  if (stored.isDamaged) stored.approvals = [];
  return stored;
}

/** Lists what is remembered about all projects. Never fails. */
export function listDecisions(agentDir: string): DecisionList {
  const stored: StoredTrust = { approvals: [], notes: [] };
  const decisions = readRecords(stored, agentDir)
    .filter(({ isFirm, record }) => isFirm || record.decision === "denied")
    .map(toListed)
    .sort((a, b) => (a.project < b.project ? -1 : 1));
  const plain = Object.entries(readPlain(stored, plainPath(agentDir)) ?? {}).filter(([, said]) => said !== null);
  // With the dot it is nothing where it is no folder.
  for (const folder of [`${agentDir}/.`, join(agentDir, "trust.d")]) {
    for (const name of listNames(stored, folder).filter(isSetAside))
      stored.notes.push({ path: join(folder, name), message: SET_ASIDE });
  }
  return { decisions, plain: Object.fromEntries(plain) as Record<string, boolean>, notes: stored.notes };
}

/** All records that can be read, whoever may have written them. Never fails. */
export function listRecords(agentDir: string): TrustRecord[] {
  return readRecords({ approvals: [], notes: [] }, agentDir).map(({ record }) => record);
}

/** The file of a project's record. */
export function recordPath(agentDir: string, key: string): string {
  return join(agentDir, "trust.d", recordName(key));
}

/** Pi's file. */
export function plainPath(agentDir: string): string {
  return join(agentDir, "trust.json");
}

const RECORD_NAME = /^[0-9a-f]{64}\.json$/;
const SET_ASIDE =
  "It was damaged and set aside when the next decision was saved; nothing reads it, and you may delete it";

function isSetAside(name: string): boolean {
  return /^(?:trust|[0-9a-f]{64})\.json\.damaged-/.test(name);
}

function recordName(key: string): string {
  return `${createHash("sha256").update(key).digest("hex")}.json`;
}

function toListed({ record, file }: ReadRecord): DecisionList["decisions"][number] {
  const { resources, project } = record;
  const all = Object.values(resources);
  const held = all.filter((each) => each.held === true).length;
  return { ...record, resources: all.length, held, file, isGone: !lookAt(project) };
}

function readRecords(stored: StoredTrust, agentDir: string): ReadRecord[] {
  const folder = join(agentDir, "trust.d");
  const names = listNames(stored, folder).filter((name) => RECORD_NAME.test(name));
  return names.flatMap((name) => readRecord(stored, join(folder, name)) ?? []);
}

function takeRecord(stored: StoredTrust, path: string, { key, ancestor }: { key: string; ancestor: string }): void {
  const read = readRecord(stored, path);
  const isOwn = ancestor === key;
  if (!read || !(isOwn || read.record.below)) return;
  const { record, isFirm } = read;
  if (record.decision === "denied") stored.denial ??= path;
  else if (isFirm && (isOwn || !lookAt(join(key, ".git")))) stored.approvals.push(record);
}

function takePlain(stored: StoredTrust, path: string, ancestors: readonly string[]): void {
  const plain = readPlain(stored, path);
  if (!plain) return;
  const said = (folder: string) => (Object.hasOwn(plain, folder) ? plain[folder] : undefined);
  if (ancestors.some((folder) => said(folder) === false)) stored.denial ??= path;
  const [key] = ancestors;
  const isConfirmed = stored.approvals.some(({ bound, project }) => bound === "folder" && project === key);
  if (key !== undefined && said(key) === true && !isConfirmed) {
    const message = `Pi trusts ${toPrintable(key)} whatever it becomes; that alone does not count here`;
    stored.notes.push({ path, message });
  }
}

function readRecord(stored: StoredTrust, file: string): ReadRecord | undefined {
  try {
    const record = readTrustFile(file, "record");
    const { project } = record;
    if (recordName(project) !== basename(file)) throw new Error(`it is about another project, ${project}`);
    const stranger = findStranger(file) ?? findStranger(dirname(file));
    if (stranger) stored.notes.push({ path: file, message: `Nothing in it counts as a yes: ${stranger}` });
    return { record, file, isFirm: stranger === undefined };
  } catch (thrown) {
    noteDamage(stored, file, thrown);
    return undefined;
  }
}

/** Pi empties its file before it fills it, under the lock: what is damaged is read again once nobody is writing. */
function readPlain(stored: StoredTrust, path: string): PlainTrust | undefined {
  let isFree = false;
  for (let times = 0; lookAt(path); times++) {
    try {
      return readTrustFile(path, "plain");
    } catch (thrown) {
      if (isFree || times >= READ_AGAIN_TIMES) {
        noteDamage(stored, path, thrown);
        return undefined;
      }
      isFree = !lookAt(`${path}.lock`);
      if (!isFree) waitAMoment();
    }
  }
  return undefined;
}

function waitAMoment(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, READ_AGAIN_MS);
}

function noteDamage(stored: StoredTrust, path: string, thrown: unknown): void {
  // It went away meanwhile: somebody took back what they had said.
  if (!lookAt(path)) return;
  stored.isDamaged = true;
  stored.notes.push({ path, message: `No yes counts while it is like this: ${wordTrustFault(thrown)}` });
}

function findStranger(path: string): string | undefined {
  const me = process.getuid?.();
  const stats = lookAt(path);
  if (!stats || me === undefined) return undefined;
  if (stats.uid !== me && stats.uid !== 0) return `${path} belongs to another user`;
  // Where every account has a group of its own, that group is nobody else.
  const isOwnGroup = stats.gid === me && process.getgid?.() === me;
  if (stats.mode & 0o002 || (stats.mode & 0o020 && !isOwnGroup)) return `${path} may be written by other users`;
  return undefined;
}

function listNames(stored: StoredTrust, folder: string): string[] {
  if (!lookAt(folder)) return [];
  try {
    return readdirSync(folder);
  } catch (thrown) {
    noteDamage(stored, folder, thrown);
    return [];
  }
}
