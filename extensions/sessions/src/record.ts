/** What a line of a session file can hold, and what can be wrong with it. */

/** The first line of a session file. Fields of other programs stay in it. */
export interface SessionHeader {
  type: "session";
  version: number;
  id: string;
  /** ISO 8601. */
  timestamp: string;
  /** Where the session was held; empty when the file does not say. */
  cwd: string;
  /** The file that this session was forked from. */
  parentSession?: string;
}

/** A line's object, not yet known to be an entry. */
export type RawRecord = { type: string } & Record<string, unknown>;

export type ProblemKind =
  | "torn"
  | "unreadable"
  | "glued"
  | "nul"
  | "foreign"
  | "late_header"
  | "newer_version"
  | "bad_message"
  | "bad_entry"
  | "bad_shape"
  | "no_id"
  | "duplicate_id"
  | "no_parent"
  | "cycle"
  | "order";

/** Something in a file that is not as it should be. `line` counts from 1. */
export interface Problem {
  kind: ProblemKind;
  line?: number;
  entryId?: string;
}

/** Tells whether a value can be a header or an entry. */
export function isRaw(value: unknown): value is RawRecord {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** Parses JSON; answers `undefined`, which no JSON text is, when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The id for what stands at a place in the file: the same at every load. */
export function placeId(place: number): string {
  return place.toString(16).padStart(8, "0");
}
