import type { Json } from "./messages.ts";

/** Deeper than this a value is not stored: no provider takes it, and naive readers overflow their stack. */
const MAX_DEPTH = 200;

/** What came frozen, and passed. That something is frozen says nothing by itself. */
const sealed = new WeakSet<object>();

/**
 * Makes a value safe to keep: freezes it through and through, and answers what is wrong with it, if anything is.
 * Strings with lone surrogates are replaced in place.
 */
export function seal(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return scalarProblem(value);
  try {
    return sealObject(value, 0);
  } catch (thrown) {
    return `it cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
}

function sealObject(value: object, depth: number): string | undefined {
  const isFresh = Object.isExtensible(value);
  if (!isFresh && sealed.has(value)) return undefined;
  if (depth > MAX_DEPTH) return `it is nested deeper than ${MAX_DEPTH} levels`;
  const parts: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  if (parts !== value) {
    if (!isPlain(value)) return "it holds an object that is not plain JSON";
    for (const name in value) if (!name.isWellFormed()) return "a name in it is not well-formed Unicode";
  }
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i];
    if (typeof part === "string") {
      if (!part.isWellFormed()) Object.assign(value, { [Object.keys(value)[i]!]: part.toWellFormed() });
      continue;
    }
    const problem = typeof part === "object" && part !== null ? sealObject(part, depth + 1) : scalarProblem(part);
    if (problem !== undefined) return problem;
  }
  if (isFresh) Object.freeze(value);
  else sealed.add(Object.freeze(value));
  return undefined;
}

function scalarProblem(value: unknown): string | undefined {
  const kind = typeof value;
  if (kind === "number") return Number.isFinite(value) ? undefined : `${String(value)} is not a JSON number`;
  if (kind === "function" || kind === "bigint" || kind === "symbol") return `a ${kind} is not JSON`;
  return undefined;
}

/** Copies JSON as it is; what is not JSON becomes `null`, too deep a part becomes a note. Never fails. */
export function toJson(value: unknown, depth = 0): Json {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "object") return null;
  if (depth > MAX_DEPTH) return "(nested too deep)";
  if (Array.isArray(value)) return value.map((part) => toJson(part, depth + 1));
  const copy: { [key: string]: Json } = {};
  for (const key of Object.keys(value)) {
    const part = readable(value as Record<string, unknown>, key);
    if (part !== undefined) copy[key.toWellFormed()] = toJson(part, depth + 1);
  }
  return copy;
}

function readable(holder: Record<string, unknown>, key: string): unknown {
  try {
    return holder[key];
  } catch {
    return "(cannot be read)";
  }
}

export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** A UUID version 7: sorts by the millisecond it was made in. */
export function uuidv7(now = Date.now()): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  for (let i = 0; i < 6; i++) bytes[i] = Math.floor(now / 2 ** (8 * (5 - i))) & 0xff;
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
