/**
 * A session file in memory.
 *
 *   lines ──► records ──► migrated ──► repaired
 *               └─ what is no entry is set aside, and told as a problem
 *
 * 1. The file is never touched here; what is mended is mended in memory, the same way at every load.
 * 2. Entry types and fields that are not known stay as they are.
 * 3. Time and memory grow with the file, whatever is in it.
 */
import type { Entry } from "@pi-agent/kernel";
import { migrate } from "./migrate.ts";
import { isRaw, type Problem, parseJson, type RawRecord, type SessionHeader } from "./record.ts";
import { repair } from "./repair.ts";
import { salvage } from "./salvage.ts";

/** The version that is written. Newer ones are read as if they were this one, as Pi does. */
export const FORMAT_VERSION = 3;

export interface ParsedSession {
  header: SessionHeader;
  /** Every parent before its children; the last one that is a place in the conversation is the leaf. */
  entries: Entry[];
  problems: Problem[];
  /** The file has other ids than `entries`: it must be written anew before anything is appended. */
  isOutdated: boolean;
}

export interface SessionParser {
  /** Takes the next line, without its line feed. `isCut`: it is the last one, and no line feed follows. */
  add(text: string, isCut?: boolean): void;
  /** Counts a line that is too long to be read. */
  skip(): void;
  /** Answers `undefined` when no line was a session header. */
  finish(): ParsedSession | undefined;
}

/** Makes a parser that takes a file line by line. */
export function createParser(): SessionParser {
  const records: RawRecord[] = [];
  const problems: Problem[] = [];
  let line = 0;
  return {
    add(text, isCut = false) {
      line++;
      const value = parseJson(line === 1 ? withoutMark(text) : text);
      if (isRaw(value)) records.push(value);
      else if (value !== undefined) problems.push({ kind: "foreign", line });
      else if (text.trim() !== "") {
        const { kind, found } = readDamaged(text, isCut);
        records.push(...found);
        problems.push({ kind, line });
      }
    },
    skip() {
      problems.push({ kind: "unreadable", line: ++line });
    },
    finish: () => toSession(records, problems),
  };
}

/** Parses a whole text. */
export function parseSession(text: string): ParsedSession | undefined {
  const parser = createParser();
  let from = 0;
  for (let to = text.indexOf("\n"); to >= 0; to = text.indexOf("\n", from)) {
    parser.add(text.slice(from, to));
    from = to + 1;
  }
  if (from < text.length) parser.add(text.slice(from), true);
  return parser.finish();
}

/** Reads a line as a session header, or answers `undefined`. */
export function parseHeader(line: string): SessionHeader | undefined {
  const value = parseJson(withoutMark(line));
  return isRaw(value) && isHeader(value) ? toHeader(value) : undefined;
}

/** Writes a line. */
export function toLine(value: SessionHeader | Entry): string {
  return `${JSON.stringify(value)}\n`;
}

function readDamaged(text: string, isCut: boolean): { kind: Problem["kind"]; found: RawRecord[] } {
  const bare = text.replaceAll("\0", "").trim();
  if (bare === "") return { kind: "nul", found: [] };
  const { records: found, isWhole } = salvage(bare);
  if (isWhole) return { kind: found.length > 1 ? "glued" : "nul", found };
  return { kind: isCut ? "torn" : "unreadable", found };
}

function toSession(records: RawRecord[], problems: Problem[]): ParsedSession | undefined {
  const headerAt = records.findIndex(isHeader);
  if (headerAt < 0) return undefined;
  const header = toHeader(records[headerAt]!);
  const { version } = header;
  if (headerAt > 0) problems.push({ kind: "late_header" });
  if (version > FORMAT_VERSION) problems.push({ kind: "newer_version" });
  const { entries, hasNewIds } = repair(migrate(records, { version, headerAt, problems }), problems);
  header.version = Math.max(version, FORMAT_VERSION);
  return { header, entries, problems, isOutdated: version < FORMAT_VERSION || hasNewIds };
}

function isHeader(record: RawRecord): boolean {
  return record.type === "session" && typeof record.id === "string";
}

function toHeader(record: RawRecord): SessionHeader {
  const header = record as unknown as SessionHeader;
  if (typeof header.version !== "number") header.version = 1;
  if (typeof header.timestamp !== "string") header.timestamp = "";
  if (typeof header.cwd !== "string") header.cwd = "";
  return header;
}

/** Editors and sync tools put a byte order mark before the first line. */
function withoutMark(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}
