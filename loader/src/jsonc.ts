import type { Json } from "@pi-agent/kernel";

/** Something wrong in a file that a person wrote: where, what and why (`message`), what to do (`hint`). */
export interface FileProblem {
  path: string;
  /** From 1. */
  line?: number;
  /** From 1. */
  column?: number;
  message: string;
  hint: string;
}

/** A parsed value with the place where it stands in its text. */
export interface JsonNode {
  offset: number;
  value: Json;
  children?: Map<string, JsonNode>;
}

/** A fault in a JSON text, at `offset`; the message says what was expected there. */
export class JsonFault extends Error {
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.name = "JsonFault";
    this.offset = offset;
  }
}

// One character each, or few: what repeats without a bound takes a stack that has one.
const NO_SPACE = /\S/g;
const LINE_END = /[\n\r]/g;
const STRING_STOP = /["\\\n\r]/g;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
// The depth to which the kernel stores values.
const MAX_DEPTH = 200;
const TOO_DEEP = `nested deeper than ${MAX_DEPTH} levels`;

/**
 * Reads JSON, with or without a byte order mark, comments and trailing commas; an empty text is an empty object.
 * Fails with `JsonFault`.
 */
export function parseJsonc(text: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    return scanJsonc(text).value;
  }
  if (isDeeper(value, MAX_DEPTH)) throw new JsonFault(0, TOO_DEEP);
  return value;
}

/**
 * Reads JSON as `parseJsonc` does, keeping each value's place. Synchronous, because settings and models answer so.
 * Fails with `JsonFault`.
 */
export function scanJsonc(text: string): JsonNode {
  return new Scanner(text).scan();
}

class Scanner {
  #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  scan(): JsonNode {
    if (this.#peek() === undefined) return { offset: 0, value: {} };
    const root = this.#value(0);
    if (this.#peek() !== undefined) throw this.#fault("the end of the file");
    return root;
  }

  #value(depth: number): JsonNode {
    if (depth > MAX_DEPTH) throw new JsonFault(this.#at, TOO_DEEP);
    const first = this.#peek();
    if (first === "{" || first === "[") return this.#members(depth, first === "{" ? "}" : "]");
    const offset = this.#at;
    if (first === '"') return { offset, value: this.#string("a string that ends on its line") };
    const value: Json = JSON.parse(this.#take(SCALAR, "a value"));
    return { offset, value };
  }

  #members(depth: number, end: "}" | "]"): JsonNode {
    const offset = this.#at++;
    const children = new Map<string, JsonNode>();
    while (this.#peek() !== end) {
      const name = end === "}" ? this.#name() : String(children.size);
      children.set(name, this.#value(depth + 1));
      if (this.#peek() === ",") this.#at += 1;
      else if (this.#peek() !== end) throw this.#fault(`"," or "${end}"`);
    }
    this.#at += 1;
    const members = [...children].map(([name, node]): [string, Json] => [name, node.value]);
    const value = end === "}" ? Object.fromEntries(members) : members.map(([, member]) => member);
    return { offset, value, children };
  }

  #name(): string {
    const name = this.#string('a name in double quotes or "}"');
    if (this.#peek() !== ":") throw this.#fault('":"');
    this.#at += 1;
    return name;
  }

  #string(expected: string): string {
    const offset = this.#at;
    const end = this.#text[offset] === '"' ? this.#endOfString(offset + 1) : undefined;
    if (end === undefined) throw this.#fault(expected);
    this.#at = end;
    try {
      return String(JSON.parse(this.#text.slice(offset, end)));
    } catch {
      throw new JsonFault(offset, "a string has a control character or an escape that JSON does not know");
    }
  }

  /** Answers where a string that began before `from` ends; `undefined` when its line ends first. */
  #endOfString(from: number): number | undefined {
    for (let at = from; ; ) {
      const stop = this.#find(STRING_STOP, at);
      if (this.#text[stop] === '"') return stop + 1;
      if (this.#text[stop] !== "\\") return undefined;
      at = stop + 2;
    }
  }

  /** Skips spaces and comments, and answers the character after them. */
  #peek(): string | undefined {
    for (;;) {
      this.#at = this.#find(NO_SPACE, this.#at);
      const end = this.#endOfComment();
      if (end === undefined) return this.#text[this.#at];
      this.#at = end;
    }
  }

  #endOfComment(): number | undefined {
    if (this.#text.startsWith("//", this.#at)) return this.#find(LINE_END, this.#at);
    if (!this.#text.startsWith("/*", this.#at)) return undefined;
    const end = this.#text.indexOf("*/", this.#at + 2);
    return end < 0 ? undefined : end + 2;
  }

  /** Finds the first place from `at` on that a pattern fits, else the end. */
  #find(pattern: RegExp, at: number): number {
    pattern.lastIndex = at;
    return pattern.exec(this.#text)?.index ?? this.#text.length;
  }

  #take(token: RegExp, expected: string): string {
    token.lastIndex = this.#at;
    const found = token.exec(this.#text)?.[0];
    if (found === undefined) throw this.#fault(expected);
    this.#at += found.length;
    return found;
  }

  // Shows one character and no more: what stands there may be a key.
  #fault(expected: string): JsonFault {
    const found = this.#text[this.#at];
    const shown = found === undefined ? "the end of the file" : JSON.stringify(found);
    return new JsonFault(this.#at, `expected ${expected}, found ${shown}`);
  }
}

/** Finds the line and column of an offset, both from 1. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

/** Finds where the value at `keys` stands, or its nearest parent that is there. */
export function placeOfKeys(text: string, keys: readonly string[]): { line: number; column: number } {
  return placesIn(text)(keys);
}

/** Does so for many keys of one text, which is scanned once, at the first question. */
export function placesIn(text: string): (keys: readonly string[]) => { line: number; column: number } {
  let root: JsonNode | undefined;
  return (keys) => {
    let node = (root ??= scanAnyway(text));
    for (const key of keys) node = node.children?.get(key) ?? node;
    return placeOf(text, node.offset);
  };
}

/** A repeated key has a value that nobody reads, and that no scan can get through when it is too deep. */
function scanAnyway(text: string): JsonNode {
  try {
    return scanJsonc(text);
  } catch (fault) {
    if (fault instanceof JsonFault) return { offset: 0, value: {} };
    throw fault;
  }
}

function isDeeper(value: Json, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}
