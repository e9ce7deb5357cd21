/**
 * Cuts JavaScript or TypeScript into tokens, in one pass that no nesting can make deep: what is cut is a stranger's, and
 * a parser that calls itself can be brought down by it. What is no valid code is cut somehow, and told.
 */

export interface Token {
  /** A template counts as a string where nothing is put into it. */
  kind: "name" | "string" | "template" | "number" | "regex" | "mark";
  /** A name, a string's content, or the mark: one character, or `=>`, `...`, `++`, `--`. `?.` is `.`. */
  text: string;
  /** Offset in the source. */
  at: number;
}

export interface Tokens {
  list: Token[];
  /** Where something is not closed. */
  fault?: number;
}

// After these a slash begins a regular expression.
const BEFORE_REGEX = new Set(
  "return typeof instanceof in of new delete void throw case do else await yield extends default".split(" "),
);
const HEADS = new Set(["if", "while", "for", "with"]);
const LONG_MARKS = ["...", "=>", "++", "--"];

/** Cuts a source text into tokens, without its comments. */
export function cutTokens(source: string): Tokens {
  return new Cutter(source).cut();
}

interface Open {
  mark: "(" | "{" | "[" | "${";
  /** A slash after the closing mark begins a regular expression. */
  isRegexAfter: boolean;
}

class Cutter {
  private readonly source: string;
  private readonly list: Token[] = [];
  private readonly open: Open[] = [];
  private at = 0;
  private fault: number | undefined;
  private isRegexNext = true;
  private wasted = 0;

  constructor(source: string) {
    this.source = source;
  }

  cut(): Tokens {
    const { source } = this;
    if (source.startsWith("#!")) this.at = lineEnd(source, 0);
    while (this.at < source.length) this.next();
    if (this.open.length > 0) this.fault ??= source.length;
    return { list: this.list, fault: this.fault };
  }

  private next(): void {
    const { source, at } = this;
    const code = source.charCodeAt(at);
    if (isSpace(code)) this.at++;
    else if (code === SLASH) this.slash();
    else if (code === QUOTE || code === APOSTROPHE) this.string(code);
    else if (code === BACKTICK) this.template();
    else if (isDigit(code)) this.add("number", nameEnd(source, at));
    else if (isNamePart(code)) this.name();
    else this.mark();
  }

  private add(kind: Token["kind"], end: number, text = this.source.slice(this.at, end)): void {
    this.list.push({ kind, text, at: this.at });
    this.at = Math.max(end, this.at + 1);
    this.isRegexNext = false;
  }

  private name(): void {
    const before = this.list.at(-1);
    const end = nameEnd(this.source, this.at);
    const text = this.source.slice(this.at, end);
    this.add("name", end, text.includes("\\") ? cook(text) : text);
    this.isRegexNext = BEFORE_REGEX.has(text) && before?.text !== ".";
  }

  private slash(): void {
    const { source, at } = this;
    const next = source.charCodeAt(at + 1);
    if (next === SLASH) this.at = lineEnd(source, at);
    else if (next === STAR) {
      const end = source.indexOf("*/", at + 2);
      if (end < 0) this.fault ??= at;
      this.at = end < 0 ? source.length : end + 2;
    } else {
      const end = this.isRegexNext ? this.findRegexEnd() : undefined;
      if (end !== undefined) return this.add("regex", end);
      this.add("mark", at + 1);
      this.isRegexNext = true;
    }
  }

  /** What is no regular expression after all was looked at for nothing: no more of that than there is text. */
  private findRegexEnd(): number | undefined {
    const { source, at } = this;
    if (this.wasted > source.length) {
      this.fault ??= at;
      return undefined;
    }
    const end = regexEnd(source, at);
    if (end === undefined) this.wasted += lineEnd(source, at) - at;
    return end;
  }

  private string(quote: number): void {
    const { source, at } = this;
    let end = at + 1;
    for (let code = source.charCodeAt(end); code !== quote; code = source.charCodeAt(end)) {
      if (end >= source.length || code === NEWLINE) {
        // Nothing on this line is looked at twice.
        this.fault ??= at;
        this.at = end;
        return;
      }
      end += code === BACKSLASH ? 2 : 1;
    }
    this.add("string", end + 1, cook(source.slice(at + 1, end)));
  }

  /** Reads a template, or what of it follows something put into it. */
  private template(isContinued = false): void {
    const { source, at } = this;
    let end = at + 1;
    for (let code = source.charCodeAt(end); code !== BACKTICK; code = source.charCodeAt(end)) {
      if (end >= source.length) {
        this.fault ??= at;
        return this.add("template", end, "");
      }
      if (code === DOLLAR && source.charCodeAt(end + 1) === BRACE) {
        this.add("template", end + 2, "");
        this.open.push({ mark: "${", isRegexAfter: false });
        this.isRegexNext = true;
        return;
      }
      end += code === BACKSLASH ? 2 : 1;
    }
    this.add(isContinued ? "template" : "string", end + 1, isContinued ? "" : cook(source.slice(at + 1, end)));
  }

  private mark(): void {
    const { source, at } = this;
    const first = source.charAt(at);
    const long = "=+-.".includes(first) ? LONG_MARKS.find((each) => source.startsWith(each, at)) : undefined;
    const isOptional = first === "?" && source.charAt(at + 1) === "." && !isDigit(source.charCodeAt(at + 2));
    const text = long ?? (isOptional ? "." : first);
    if (text === "}" && this.open.at(-1)?.mark === "${") {
      this.open.pop();
      return this.template(true);
    }
    const isRegexAfter = this.isRegexAfter(text);
    this.add("mark", at + (isOptional ? 2 : text.length), text);
    this.isRegexNext = isRegexAfter;
  }

  /** Keeps account of what is open, and tells whether a slash may begin a regular expression after this mark. */
  private isRegexAfter(text: string): boolean {
    const before = this.list.at(-1);
    if (text === "(" || text === "[" || text === "{") {
      const isHead = before?.kind === "name" && HEADS.has(before.text);
      this.open.push({ mark: text, isRegexAfter: text === "{" ? isBlockAfter(before) : text === "(" && isHead });
      return true;
    }
    if (text !== ")" && text !== "]" && text !== "}") return text !== "++" && text !== "--" && text !== ".";
    const opened = this.open.pop();
    if (opened?.mark !== PAIRS[text]) this.fault ??= this.at;
    return opened?.isRegexAfter ?? false;
  }
}

const PAIRS = { ")": "(", "]": "[", "}": "{" } as const;

/** Tells whether a brace after this token opens a block, and no object. */
function isBlockAfter(before: Token | undefined): boolean {
  if (!before) return true;
  if (before.kind === "mark") return [")", ";", "{", "}", "=>"].includes(before.text);
  return before.kind === "name" && (!BEFORE_REGEX.has(before.text) || before.text === "do" || before.text === "else");
}

function regexEnd(source: string, start: number): number | undefined {
  let isInClass = false;
  for (let at = start + 1; at < source.length; at++) {
    const code = source.charCodeAt(at);
    if (code === NEWLINE) return undefined;
    if (code === BACKSLASH) at++;
    else if (code === 0x5b) isInClass = true;
    else if (code === 0x5d) isInClass = false;
    else if (code === SLASH && !isInClass) return nameEnd(source, at + 1);
  }
  return undefined;
}

// As in `\\u{10ffff}`.
const MAX_ESCAPE = 12;

function nameEnd(source: string, start: number): number {
  let at = start;
  for (let code = source.charCodeAt(at); isNamePart(code) || code === BACKSLASH; code = source.charCodeAt(at)) {
    // An escape in a name is \u and four digits, or \u{…}.
    const isBraced = code === BACKSLASH && source.charCodeAt(at + 2) === BRACE;
    const close = isBraced ? source.slice(at, at + MAX_ESCAPE).indexOf("}") : -1;
    at += close + 1 || 1;
  }
  return at;
}

function lineEnd(source: string, start: number): number {
  const end = source.indexOf("\n", start);
  return end < 0 ? source.length : end;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", v: "\v", 0: "\0" };

/** Reads what escapes stand for. */
function cook(raw: string): string {
  if (!raw.includes("\\")) return raw;
  return raw.replace(
    /\\(?:u\{([\da-f]{1,6})\}|u([\da-f]{4})|x([\da-f]{2})|(\r\n|[^]))/gi,
    (_all, point?: string, unit?: string, byte?: string, char?: string) => {
      const hex = point ?? unit ?? byte;
      if (hex !== undefined)
        return Number.parseInt(hex, 16) > 0x10ffff ? "" : String.fromCodePoint(Number.parseInt(hex, 16));
      return char === "\n" || char === "\r\n" ? "" : (ESCAPES[char ?? ""] ?? char ?? "");
    },
  );
}

const [NEWLINE, QUOTE, DOLLAR, APOSTROPHE, STAR, SLASH] = [0x0a, 0x22, 0x24, 0x27, 0x2a, 0x2f];
const [BACKSLASH, BACKTICK, BRACE] = [0x5c, 0x60, 0x7b];

function isSpace(unit: number): boolean {
  return unit <= 0x20 || unit === 0xa0 || unit === 0xfeff || unit === 0x2028 || unit === 0x2029;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

function isNamePart(unit: number): boolean {
  return (
    (unit >= 0x61 && unit <= 0x7a) ||
    (unit >= 0x41 && unit <= 0x5a) ||
    isDigit(unit) ||
    unit === DOLLAR ||
    unit === 0x5f ||
    (unit >= 0x80 && !isSpace(unit))
  );
}
