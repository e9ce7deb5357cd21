/**
 * What the agent directory remembers of a person's decisions.
 *
 *   trust.json                        Pi's: path → true | false | null
 *   trust.d/<sha256 of key>.json      ours: one record per project, bound to content or to the folder
 *
 * 1. A file that is missing, empty, cut, not JSON, of another version or shape, with repeated or `__proto__` keys, no
 *    regular file, another user's or writable by others never means "trusted" (T6): it is reported and says nothing.
 * 2. Any `false` holds, a project's own or an ancestor's. A `true` of Pi's holds only for the project itself, and only
 *    where a folder-bound record of ours confirms it.
 * 3. A record of an ancestor counts where it was made "and below"; an approval never crosses a boundary.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readRegularFile } from "./file-view.ts";
import { findMisfits, type JsonSchema } from "./json-check.ts";
import { foldersUpTo, lookAt } from "./places.ts";
import type { Grade, PlanItem } from "./plan.ts";
import { parseStrictJson } from "./strict-json.ts";

/** A record, as `trust.schema.json` has it. */
export interface TrustRecord {
  version: 1;
  project: string;
  bound: "content" | "folder";
  decision: "trusted" | "text" | "denied";
  below: boolean;
  resources: Record<string, { kind: string; digest: string; members: Record<string, string> }>;
  decidedAt: string;
  decidedBy: string;
}

/** What is remembered about one project. */
export interface StoredTrust {
  /** The file that says no. */
  denial?: string;
  approvals: TrustRecord[];
  /** Trust files that say nothing because of what is wrong with them, and other things that a person should know. */
  notes: { path: string; message: string }[];
}

const NOTHING: StoredTrust = { approvals: [], notes: [] };
// A record names up to 2,000 members of each resource.
const MAX_BYTES = 16 << 20;

let schema: Record<"plain" | "record", JsonSchema> | undefined;

/** Reads what is remembered about the project with this key. Never fails: what cannot be believed is in `notes`. */
export function readTrust(agentDir: string, key: string): StoredTrust {
  const plainPath = join(agentDir, "trust.json");
  const folder = join(agentDir, "trust.d");
  const hasPlain = lookAt(plainPath) !== undefined;
  const names = new Set(listNames(folder));
  if (!hasPlain && names.size === 0) return NOTHING;
  const stored: StoredTrust = { approvals: [], notes: [] };
  const ancestors = foldersUpTo(key, "");
  for (const ancestor of ancestors) {
    const path = recordPath(agentDir, ancestor);
    if (names.has(recordName(ancestor))) takeRecord(stored, path, { key, ancestor });
  }
  if (hasPlain) takePlain(stored, plainPath, ancestors);
  return stored;
}

/** What a record says about a resource as it is now; `undefined` when it is new, or was something else then. */
export function recall(record: TrustRecord, item: PlanItem): "loaded" | "held" | undefined {
  if (record.decision === "denied") return "held";
  const known = Object.hasOwn(record.resources, item.id) ? record.resources[item.id] : undefined;
  const isSame = known !== undefined && item.digest !== "" && known.kind === item.kind && known.digest === item.digest;
  if (record.bound === "content" && !isSame) return undefined;
  return allowsGrade(record.decision, item.grade) ? "loaded" : "held";
}

/** Tells what an answer lets load: `text` no more than words for the model. */
export function allowsGrade(decision: "trusted" | "text", grade: Grade): boolean {
  return decision === "trusted" || grade === "text";
}

/** The file of a project's record. */
export function recordPath(agentDir: string, key: string): string {
  return join(agentDir, "trust.d", recordName(key));
}

function recordName(key: string): string {
  return `${createHash("sha256").update(key).digest("hex")}.json`;
}

function takeRecord(stored: StoredTrust, path: string, { key, ancestor }: { key: string; ancestor: string }): void {
  const read = readChecked(stored, path, "record");
  const record = read?.value as TrustRecord | undefined;
  if (!record) return;
  if (record.project !== ancestor) {
    stored.notes.push({ path, message: `It is about another project, ${record.project}` });
    return;
  }
  const isOwn = ancestor === key;
  if (!isOwn && !record.below) return;
  if (record.decision === "denied") stored.denial ??= path;
  else if (read?.isFirm && (isOwn || !lookAt(join(key, ".git")))) stored.approvals.push(record);
}

function takePlain(stored: StoredTrust, path: string, ancestors: readonly string[]): void {
  const plain = readChecked(stored, path, "plain")?.value as Record<string, boolean | null> | undefined;
  if (!plain) return;
  const said = (folder: string) => (Object.hasOwn(plain, folder) ? plain[folder] : undefined);
  if (ancestors.some((folder) => said(folder) === false)) stored.denial ??= path;
  const [key] = ancestors;
  const isConfirmed = stored.approvals.some(({ bound, project }) => bound === "folder" && project === key);
  if (key !== undefined && said(key) === true && !isConfirmed) {
    stored.notes.push({ path, message: `Pi trusts ${key} whatever it becomes; that alone does not count here` });
  }
}

/** `isFirm`: nobody else can have written it, so that it may say yes. Anybody's no is taken. */
function readChecked(
  stored: StoredTrust,
  path: string,
  kind: "plain" | "record",
): { value: unknown; isFirm: boolean } | undefined {
  try {
    const value = parseStrictJson(readRegularFile(path, MAX_BYTES));
    const [misfit] = findMisfits(loadSchema()[kind], value);
    if (misfit) throw new Error([...misfit.keys, misfit.message].join(": "));
    const stranger = findStranger(path) ?? findStranger(dirname(path));
    if (stranger) stored.notes.push({ path, message: `Nothing in it counts as a yes: ${stranger}` });
    return { value, isFirm: stranger === undefined };
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    stored.notes.push({ path, message: `It counts as if it were not there: ${reason}` });
    return undefined;
  }
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

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Not there, or not a folder: there are no records.
    return [];
  }
}

/** The published schema: beside the package where it is installed, at the root of the repository where it is developed. */
function loadSchema(): Record<"plain" | "record", JsonSchema> {
  if (schema) return schema;
  const places = ["../trust.schema.json", "../../trust.schema.json"].map((each) =>
    fileURLToPath(new URL(each, import.meta.url)),
  );
  const path = places.find(lookAt);
  if (path === undefined)
    throw new Error("this installation lacks trust.schema.json, which trust files are checked with");
  const { $defs } = JSON.parse(readFileSync(path, "utf8")) as { $defs: Record<"plain" | "record", JsonSchema> };
  schema = $defs;
  return schema;
}
