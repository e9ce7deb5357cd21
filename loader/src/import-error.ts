/** Says where in an extension's source something went wrong, what, and what to do. */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { AgentError, isAgentError } from "@pi-agent/kernel";
import { isHostModule } from "./packages/host-packages.ts";
import { isInside } from "./places.ts";

export interface SourcePlace {
  path: string;
  /** From 1. */
  line: number;
  /** From 1. */
  column: number;
}

// What jiti makes of a syntax error: the kind, the message, and below it the place, whose column counts from 0.
const PARSE_ERROR = /^(\w*Error): (.*?)\s*\n (.+):(\d+):(\d+)$/s;
const MISSING = /^Cannot find (?:module|package) '([^']+)'/;
const HIDDEN = /^Package subpath '\.([^']+)' is not defined by "exports" in .*node_modules\/(.+?)\/package\.json/;
const FRAME = /\(?((?:file:\/\/)?\/[^()\n]*?):(\d+):(\d+)\)?$/gm;

/** Makes an error for a person of what importing the extension at `path` threw. `read` gives a source, to find places. */
export function toImportError(
  path: string,
  thrown: unknown,
  read: (path: string) => Buffer = readFileSync,
): AgentError {
  if (isAgentError(thrown)) return thrown;
  const cause = thrown instanceof Error ? thrown : new Error(String(thrown));
  const [, kind, what, file, line, column] = PARSE_ERROR.exec(cause.message) ?? [];
  if (kind !== undefined && file !== undefined) {
    const place = { path: file, line: Number(line), column: Number(column) + 1 };
    return new AgentError("extension_syntax", `${toText(place)}: ${what} (${kind}).`, {
      hint: "Mend it there, then start again.",
      cause,
      owner: path,
    });
  }
  const missing = MISSING.exec(cause.message)?.[1];
  if (missing !== undefined) return toMissingError(path, { specifier: missing, cause, read });
  const [, part, name] = HIDDEN.exec(cause.message) ?? [];
  if (name !== undefined) return toMissingError(path, { specifier: `${name}${part}`, cause, read });
  const place = findPlace(cause, path);
  return new AgentError("extension_failed", `${toText(place, path)}: ${cause.message}`, {
    hint: "It threw while it was loaded. Mend it there, then start again.",
    cause,
    owner: path,
  });
}

/** Finds the first place in a stack trace that lies in the extension's own folder. */
export function findPlace(thrown: unknown, path: string): SourcePlace | undefined {
  const stack = thrown instanceof Error ? (thrown.stack ?? "") : "";
  for (const [, file = "", line, column] of stack.matchAll(FRAME)) {
    const found = file.startsWith("file://") ? fileURLToPath(file) : file;
    if (isInside(found, dirname(path))) return { path: found, line: Number(line), column: Number(column) };
  }
  return undefined;
}

/** Spells a place the way editors understand. */
export function toText(place: SourcePlace | undefined, path = ""): string {
  return place ? `${place.path}:${place.line}:${place.column}` : path;
}

function toMissingError(
  path: string,
  { specifier, cause, read }: { specifier: string; cause: Error; read: (path: string) => Buffer },
): AgentError {
  const named = /Require stack:\n- (.+)/.exec(cause.message) ?? /imported from (.+)$/.exec(cause.message);
  const from = named?.[1] ?? findPlace(cause, path)?.path ?? path;
  return new AgentError(
    "extension_import",
    `${toText(findImport(from, specifier, read), from)}: cannot find ${specifier}.`,
    {
      hint: hintFor(specifier, cause),
      cause,
      owner: path,
    },
  );
}

function hintFor(specifier: string, cause: Error): string {
  if (HIDDEN.test(cause.message)) return "The package has no such part. Import one that it exports.";
  if (/^[./]/.test(specifier)) return "Mend the path.";
  if (isHostModule(specifier))
    return "Pi lends it, and nothing here does: take this extension out (pi config), or run it with Pi.";
  return `Install it beside the extension: npm install ${specifier}`;
}

function findImport(path: string, specifier: string, read: (path: string) => Buffer): SourcePlace | undefined {
  let text: string;
  try {
    text = read(path).toString("utf8");
  } catch {
    return undefined;
  }
  const at = ['"', "'"].map((quote) => text.indexOf(quote + specifier + quote)).find((index) => index >= 0);
  if (at === undefined) return undefined;
  const before = text.slice(0, at).split("\n");
  return { path, line: before.length, column: (before.at(-1) ?? "").length + 1 };
}
