import type { Json } from "./messages.ts";

/** Deeper than this a value is not stored: no provider takes it, and naive readers overflow their stack. */
const MAX_DEPTH = 200;
/** Larger than this a value is not stored: what is shared in it counts as often as it would be written. */
const MAX_PARTS = 10_000_000;
/** So much is copied of what is not JSON. */
const MAX_COPIED = 100_000;

/** How many parts there are in what came frozen, and passed. That something is frozen says nothing by itself. */
const sealed = new WeakMap<object, number>();

/**
 * Makes a value safe to keep: freezes it through and through, and answers what is wrong with it, if anything is.
 * Strings with lone surrogates are replaced in place. What may read otherwise later (accessors, proxies) passes as it
 * reads now: values that foreign hands hold on to are copied first, with `copyPlain` or `toJson`.
 */
export function seal(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return scalarProblem(value);
  try {
    return sealObject(value, 0, { parts: 0 });
  } catch (thrown) {
    return `it cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
}

function sealObject(value: object, depth: number, pass: { parts: number }): string | undefined {
  const isFresh = Object.isExtensible(value);
  const before = pass.parts;
  const known = isFresh ? undefined : sealed.get(value);
  if (depth > MAX_DEPTH) return `it is nested deeper than ${MAX_DEPTH} levels`;
  const parts: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  pass.parts += known ?? parts.length + 1;
  if (pass.parts > MAX_PARTS) return `it has more than ${MAX_PARTS} parts`;
  if (known !== undefined) return undefined;
  const problem = formProblem(value, parts === value);
  if (problem !== undefined) return problem;
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i];
    if (typeof part === "string") {
      if (!part.isWellFormed()) Object.assign(value, { [Object.keys(value)[i]!]: part.toWellFormed() });
      continue;
    }
    if (part === undefined && !(i in parts)) return "it holds a list with holes";
    const wrong = typeof part === "object" && part !== null ? sealObject(part, depth + 1, pass) : scalarProblem(part);
    if (wrong !== undefined) return wrong;
  }
  Object.freeze(value);
  if (!isFresh) sealed.set(value, pass.parts - before);
  return undefined;
}

function formProblem(value: object, isList: boolean): string | undefined {
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return "it holds what turns to JSON by itself";
  if (isList) return Object.getPrototypeOf(value) === Array.prototype ? undefined : "it holds a list of a class";
  if (!isPlain(value)) return "it holds an object that is not plain JSON";
  for (const name in value) if (!name.isWellFormed()) return "a name in it is not well-formed Unicode";
  return undefined;
}

/** Copies plain lists and objects, each property read once; all else stays as it is, for `seal` to judge. */
export function copyPlain(value: unknown): unknown {
  try {
    return plainCopyOf(value, { copies: new Map(), depth: 0 });
  } catch {
    // It cannot be read, as `seal` will find too.
    return value;
  }
}

function plainCopyOf(value: unknown, at: { copies: Map<object, object>; depth: number }): unknown {
  if (typeof value !== "object" || value === null || at.depth > MAX_DEPTH) return value;
  const known = at.copies.get(value);
  if (known) return known;
  const isList = Array.isArray(value);
  if (isList ? Object.getPrototypeOf(value) !== Array.prototype : !isPlain(value)) return value;
  const copy: Record<string, unknown> | unknown[] = isList ? [] : {};
  // Holes stay holes.
  if (isList) copy.length = value.length;
  at.copies.set(value, copy);
  at.depth++;
  for (const [name, part] of Object.entries(value))
    setOwn(copy as Record<string, unknown>, name, plainCopyOf(part, at));
  at.depth--;
  return copy;
}

function scalarProblem(value: unknown): string | undefined {
  const kind = typeof value;
  if (kind === "number") return Number.isFinite(value) ? undefined : `${String(value)} is not a JSON number`;
  if (kind === "function" || kind === "bigint" || kind === "symbol") return `a ${kind} is not JSON`;
  return undefined;
}

/**
 * Copies JSON as it is, and of anything else what can be read: bytes become their number, an error its name and message,
 * a set a list, a map a list of pairs; what has no likeness in JSON becomes `null`, what is too much a note. Never fails.
 */
export function toJson(value: unknown, maxParts = MAX_COPIED): Json {
  return copyOf(value, { left: maxParts, above: new Set() });
}

type Copying = { left: number; above: Set<object> };

function copyOf(value: unknown, copying: Copying): Json {
  if (copying.left-- <= 0) return "(too large)";
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "object") return null;
  const { above } = copying;
  if (above.has(value)) return "(cyclic)";
  if (above.size > MAX_DEPTH) return "(nested too deep)";
  above.add(value);
  try {
    return copyOfObject(value, copying);
  } catch {
    return "(cannot be read)";
  } finally {
    above.delete(value);
  }
}

function copyOfObject(value: object, copying: Copying): Json {
  if (Array.isArray(value)) return copyOfList(value, copying);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof SharedArrayBuffer)
    return `(${value.byteLength} bytes)`;
  if (value instanceof Date) return Number.isFinite(value.getTime()) ? value.toISOString() : null;
  if (value instanceof Error) return copyOfFields(value, ["name", "message"], copying);
  if (value instanceof Set || value instanceof Map) return copyOfList(value, copying);
  return copyOfFields(value, Object.keys(value), copying);
}

function copyOfList(parts: Iterable<unknown>, copying: Copying): Json {
  const copy: Json[] = [];
  for (const part of parts) {
    copy.push(copyOf(part, copying));
    if (copying.left < 0) break;
  }
  return copy;
}

function copyOfFields(value: object, names: readonly string[], copying: Copying): Json {
  const copy: { [key: string]: Json } = {};
  for (const name of names) {
    const part = readable(value as Record<string, unknown>, name);
    if (part !== undefined) setOwn(copy, name.toWellFormed(), copyOf(part, copying));
    if (copying.left < 0) break;
  }
  return copy;
}

/** Sets a property of a fresh object, whatever its name: by plain assignment `__proto__` would set what it inherits. */
export function setOwn(holder: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") holder[name] = value;
  else Object.defineProperty(holder, name, { value, writable: true, enumerable: true, configurable: true });
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

export function isPlain(value: object): boolean {
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
