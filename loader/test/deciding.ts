/** Says things about projects, and looks at what is written. */
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { TempProject } from "../../test/kit/src/index.ts";
import { digestBytes } from "../src/plan.ts";
import { parseTrustFile, type TrustRecord } from "../src/trust-file.ts";
import { plainPath, recordPath } from "../src/trust-store.ts";
import { remember, type TrustChange } from "../src/trust-writer.ts";

export const say = (at: { agentDir: string; path: string }, more: Partial<TrustChange> = {}) =>
  remember(at.agentDir, {
    key: at.path,
    decision: "trusted",
    bound: "content",
    below: false,
    decidedBy: "prompt",
    resources: {},
    ...more,
  });
export const NEVER = { decision: "denied", bound: "folder" } as const;
export const FOLDER = { bound: "folder" } as const;

export const plainOf = (at: TempProject) => readFile(plainPath(at.agentDir), "utf8");
export const writePlain = (at: TempProject, value: unknown) =>
  at.write(plainPath(at.agentDir), typeof value === "string" ? value : JSON.stringify(value));
export const recordOf = (at: TempProject) =>
  parseTrustFile(readFileSync(recordPath(at.agentDir, at.path)), "record") satisfies TrustRecord;
export const asideIn = (folder: string) => readdirSync(folder).filter((name) => name.includes(".damaged-"));

/** A resource of one member, with the bytes of it. */
export function resource(text: string | Buffer): Pick<TrustChange, "resources" | "contents"> {
  const bytes = Buffer.from(text);
  const digest = digestBytes(bytes);
  const resources = { "prompt:.pi/prompts/p.md": { kind: "prompt", digest, members: { ".pi/prompts/p.md": digest } } };
  return { resources, contents: new Map([[digest, bytes]]) };
}

/** A record as it lies in a file: bound to the folder, unless told otherwise. */
export function record(key: string, more: Partial<TrustRecord> = {}): TrustRecord {
  const decided = { decidedAt: "2026-11-30T00:00:00.000Z", decidedBy: "prompt" };
  return {
    version: 1,
    project: key,
    bound: "folder",
    decision: "trusted",
    below: false,
    resources: {},
    ...decided,
    ...more,
  };
}

/** Puts a record, or whatever it is, where the record of this project is looked for. */
export function store(at: TempProject, key: string, value: unknown): Promise<string> {
  return at.write(recordPath(at.agentDir, key), typeof value === "string" ? value : JSON.stringify(value));
}
