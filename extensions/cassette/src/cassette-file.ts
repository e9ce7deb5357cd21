import type { JsonObject } from "@pi-agent/kernel";
import { type Batch, type Take, type Turn, toTake } from "./take.ts";

/** The first line of a cassette. */
export interface Header {
  type: "cassette";
  version: 1;
  description?: string;
  /** Written by hand. */
  scripted?: boolean;
}

/** A take and the line that it stands on, from 1. */
export interface Line {
  line: number;
  take: Take;
}

/** A cassette that cannot be read, and the line that says why. */
class CassetteFault extends Error {
  constructor(line: number, why: string) {
    super(`line ${line} ${why}`);
    this.name = "CassetteFault";
  }
}

/** Reads a cassette: JSON Lines, a header, then one line per answer. Fails with `CassetteFault`. */
export function parseCassette(text: string): Line[] {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  checkHeader(parseLine(lines[0] ?? "", 1));
  return lines.flatMap((content, index): Line[] => {
    if (index === 0 || content.trim() === "") return [];
    return [{ line: index + 1, take: readTake(parseLine(content, index + 1), index + 1) }];
  });
}

function parseLine(text: string, line: number): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CassetteFault(line, "is not JSON");
  }
  if (!isObject(value)) throw new CassetteFault(line, "is not an object");
  return value;
}

function checkHeader({ type, version }: JsonObject): void {
  if (type !== "cassette") throw new CassetteFault(1, 'is not the header { "type": "cassette", "version": 1 }');
  if (version !== 1)
    throw new CassetteFault(1, `is of version ${JSON.stringify(version)}; this package reads version 1`);
}

function readTake(value: JsonObject, line: number): Take {
  if (isTake(value)) return value;
  if (isTurn(value)) return toTake(value);
  throw new CassetteFault(line, 'is neither a recorded answer nor a turn with "text", "thinking" or "calls"');
}

function isTurn(value: unknown): value is Turn {
  if (!isObject(value) || value.content !== undefined) return false;
  const { thinking, text, calls, purpose, turns } = value;
  const isSaid = [thinking, text, calls].some((part) => part !== undefined);
  const isTexts = [thinking, text, purpose].every((part) => part === undefined || typeof part === "string");
  const isNumber = turns === undefined || typeof turns === "number";
  return isSaid && isTexts && isNumber && (calls === undefined || (Array.isArray(calls) && calls.every(isCall)));
}

function isCall(value: unknown): boolean {
  return (
    isObject(value) && typeof value.name === "string" && (value.arguments === undefined || isObject(value.arguments))
  );
}

function isTake(value: unknown): value is Take {
  if (!isObject(value) || typeof value.purpose !== "string" || typeof value.stopReason !== "string") return false;
  const { content, batches } = value;
  return Array.isArray(content) && content.every(isBlock) && Array.isArray(batches) && batches.every(isBatch);
}

function isBlock(value: unknown): boolean {
  if (!isObject(value)) return false;
  if (value.type === "toolCall") return typeof value.id === "string" && isCall(value);
  return typeof (value.type === "text" ? value.text : value.thinking) === "string";
}

function isBatch(value: unknown): value is Batch {
  return Array.isArray(value) && value.every((mark) => Array.isArray(mark) && mark.every(Number.isInteger));
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
