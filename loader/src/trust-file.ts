/** Reads the files that decisions are kept in: everything that is not exactly what the published schema says is a fault. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Refusal, readRegularFile } from "./file-view.ts";
import { findMisfits, type JsonSchema } from "./json-check.ts";
import { lookAt } from "./places.ts";
import { toPrintable } from "./printable.ts";
import { parseStrictJson } from "./strict-json.ts";

/** A record, as `trust.schema.json` has it. */
export interface TrustRecord {
  version: 1;
  project: string;
  bound: "content" | "folder";
  decision: "trusted" | "text" | "denied";
  below: boolean;
  resources: Record<string, { kind: string; digest: string; members: Record<string, string>; held?: boolean }>;
  decidedAt: string;
  decidedBy: string;
}

/** Pi's file: by folder, whether it is trusted; `null` says nothing. */
export type PlainTrust = Record<string, boolean | null>;

interface TrustFiles {
  plain: PlainTrust;
  record: TrustRecord;
}

// A record names up to 2,000 members of each resource.
const MAX_BYTES = 16 << 20;
const MAX_REASON_LENGTH = 300;

let schema: Record<keyof TrustFiles, JsonSchema> | undefined;

/** Reads a trust file. Fails with a `Refusal` for what is no regular file or too large, with an `Error` for damage. */
export function readTrustFile<K extends keyof TrustFiles>(path: string, kind: K): TrustFiles[K] {
  return parseTrustFile(readRegularFile(path, MAX_BYTES), kind);
}

/** Parses what a trust file holds. Fails with an `Error` that says what is wrong. */
export function parseTrustFile<K extends keyof TrustFiles>(bytes: Uint8Array, kind: K): TrustFiles[K] {
  if (bytes.length > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES >> 20} MB`);
  const value = parseStrictJson(bytes);
  const [misfit] = findMisfits(loadSchema()[kind], value);
  if (misfit) throw new Error([...misfit.keys, misfit.message].join(": "));
  return value as unknown as TrustFiles[K];
}

/** Words why a trust file cannot be believed, fit to be shown. */
export function wordTrustFault(thrown: unknown): string {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const reason = toPrintable(thrown instanceof Refusal ? `it ${message}` : message);
  return reason.length > MAX_REASON_LENGTH ? `${reason.slice(0, MAX_REASON_LENGTH)}…` : reason;
}

/** The published schema: beside the package where it is installed, at the root of the repository where it is developed. */
function loadSchema(): Record<keyof TrustFiles, JsonSchema> {
  if (schema) return schema;
  const places = ["../trust.schema.json", "../../trust.schema.json"].map((each) =>
    fileURLToPath(new URL(each, import.meta.url)),
  );
  const path = places.find(lookAt);
  if (path === undefined)
    throw new Error("this installation lacks trust.schema.json, which trust files are checked with");
  const { $defs } = JSON.parse(readFileSync(path, "utf8")) as { $defs: Record<keyof TrustFiles, JsonSchema> };
  schema = $defs;
  return schema;
}
