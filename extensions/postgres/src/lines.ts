/** The lines of a spool: a head that says what the line is, a tab, and where there is one the exact JSON of what it carries. */
import type { Json } from "@pi-agent/kernel";

export interface RunLine {
  t: "run";
  id: string;
  session: string;
  cwd: string;
  host: string;
  config: Json;
}
/** A run goes on. */
export interface BeatLine {
  t: "beat";
  id: string;
  usage?: Json;
  cost?: number;
}
export interface EndLine {
  t: "end";
  id: string;
  status: string;
  usage: Json;
  cost: number;
  error?: Json;
}
/** A transcript entry: as a step of a run, as part of a stored session, or as both. */
export interface EntryLine {
  t: "entry";
  step?: { run: string; seq: number; iteration: number };
  session?: string;
}
/** The header of a stored session. */
export interface HeaderLine {
  t: "header";
  session: string;
}
/** A session is free again. */
export interface ReleaseLine {
  t: "release";
  session: string;
  token: string;
}
/** `at`: when it was written, in this machine's milliseconds. */
export type Head = (RunLine | BeatLine | EndLine | EntryLine | HeaderLine | ReleaseLine) & { at: number };

/** A line that was read: `payload` is empty where it carries nothing. */
export interface Line {
  head: Head;
  payload: string;
}

const KINDS = new Set<unknown>(["run", "beat", "end", "entry", "header", "release"]);

export function toLine(head: Head, payload = ""): string {
  return `${JSON.stringify(head)}\t${payload}\n`;
}

/** Reads a line; answers `undefined` for what is none. */
export function readLine(text: string): Line | undefined {
  const tab = text.indexOf("\t");
  if (tab < 0) return undefined;
  try {
    const head = JSON.parse(text.slice(0, tab)) as Head | null;
    if (!KINDS.has(head?.t) || typeof head?.at !== "number") return undefined;
    return { head, payload: text.slice(tab + 1) };
  } catch {
    return undefined;
  }
}
