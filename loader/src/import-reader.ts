/**
 * Reads what a source text imports, without evaluating any of it, and what it does that no reading can follow. It sees
 * what is written plainly. What it does not see is not approved, and so does not load: it is here to say before the
 * answer what the answer covers.
 */
import { isBuiltin } from "node:module";
import { cutTokens, type Token } from "./js-tokens.ts";
import type { Mode } from "./module-resolver.ts";

/** What code may reach beyond what it imports, worded to stand in a list. */
export const UNKNOWNS = {
  computed: "imports with computed names",
  unreadable: "imports of a file that is no valid code",
  large: "imports of a file of more than 2 MB",
  loading: "changes to how modules are loaded",
  text: "code that is made of text",
  programs: "programs that it starts",
  workers: "workers that it starts",
  addon: "native code",
  files: "files that it reads itself",
} as const;
export type Unknown = keyof typeof UNKNOWNS;

export interface Reading {
  requests: { specifier: string; mode: Mode; line: number }[];
  /** Each with the first line where it is seen. */
  unknowns: Map<Unknown, number>;
}

const BUILTINS: Readonly<Record<string, Unknown>> = {
  fs: "files",
  "fs/promises": "files",
  child_process: "programs",
  cluster: "workers",
  worker_threads: "workers",
  sqlite: "files",
  test: "programs",
  vm: "text",
  wasi: "addon",
};
// Doors by which the loading of modules is changed.
const LOADING = new Set("registerHooks register runMain _load _resolveFilename _extensions _cache _compile".split(" "));
const GLOBALS = new Set(["globalThis", "global", "window", "self"]);
// Further than this nobody looks for the end of a call.
const MAX_CALL = 200;

/** Reads a source text. */
export function readImports(source: string): Reading {
  return new Reader(source).read();
}

class Reader {
  private readonly source: string;
  private readonly list: Token[];
  private readonly reading: Reading = { requests: [], unknowns: new Map() };
  /** Names by which `createRequire` and what it makes go here. */
  private readonly makers = new Set(["createRequire"]);
  private readonly requires = new Set(["require"]);
  private readonly hasModule: boolean;
  private line = { number: 1, at: 0 };

  constructor(source: string) {
    this.source = source;
    this.hasModule = /["'](?:node:)?module["']/.test(source);
    const { list, fault } = cutTokens(source);
    this.list = list;
    if (fault !== undefined) this.note("unreadable", fault);
  }

  read(): Reading {
    this.line = { number: 1, at: 0 };
    this.findMade();
    for (let index = 0; index < this.list.length; ) index = this.step(index);
    return this.reading;
  }

  /** Looks at one token; answers the index of the next one to look at. */
  private step(index: number): number {
    const token = this.list[index];
    if (token?.kind !== "name") return index + 1;
    const isMember = this.is(index - 1, ".") || this.is(index - 1, "#");
    if (isMember) this.member(index);
    else if (token.text === "import") return this.importAt(index);
    else if (token.text === "export") return this.exportAt(index);
    else if (!this.isKey(index)) this.free(index);
    return index + 1;
  }

  private free(index: number): void {
    const { text, at } = this.list[index]!;
    if (this.requires.has(text)) this.requireAt(index);
    else if (this.makers.has(text)) this.makerAt(index);
    else if (text === "eval" && !this.is(index - 1, "typeof")) this.note("text", at);
    else if (text === "Function" && this.is(index + 1, "(")) this.note("text", at);
    else if (LOADING.has(text) && this.hasModule) this.note("loading", at);
    else if (text === "process" && this.is(index + 1, ".")) this.processAt(index);
  }

  private member(index: number): void {
    const { text, at } = this.list[index]!;
    const owner = this.list[index - 2]?.text ?? "";
    if (text === "require" && owner === "module") this.requireAt(index);
    else if (this.makers.has(text)) this.makerAt(index);
    else if (text === "eval" && GLOBALS.has(owner)) this.note("text", at);
    else if (LOADING.has(text) && this.hasModule) this.note("loading", at);
    else if (text === "exec" && this.is(index + 1, "(") && (owner === "pi" || this.hasTwo(index + 1))) {
      this.note("programs", at);
    }
  }

  private importAt(index: number): number {
    const { at } = this.list[index]!;
    if (this.is(index + 1, ".")) return index + 1;
    if (this.is(index + 1, "(")) {
      const [argument, after] = [this.list[index + 2], this.list[index + 3]?.text ?? ""];
      if (argument?.kind === "string" && [")", ","].includes(after)) this.request(argument.text, "import", at);
      else this.note("computed", at);
      return index + 2;
    }
    const end = this.clauseEnd(index + 1);
    const from = this.list[end];
    if (from?.kind === "string" && (end === index + 1 || this.is(end - 1, "from"))) {
      if (!isTypeOnly(this.list.slice(index + 1, end - 1))) this.request(from.text, "import", at);
      return end + 1;
    }
    const isType = this.is(index + 1, "type") && this.list[index + 2]?.kind === "name" && this.is(index + 3, "=");
    // import type x = require("…")
    return isType ? end + 4 : Math.max(end, index + 1);
  }

  private exportAt(index: number): number {
    const isType = this.is(index + 1, "type") && (this.is(index + 2, "{") || this.is(index + 2, "*"));
    const start = index + (isType ? 2 : 1);
    if (!this.is(start, "{") && !this.is(start, "*")) return index + 1;
    const end = this.clauseEnd(start);
    const from = this.list[end];
    if (from?.kind !== "string" || !this.is(end - 1, "from")) return Math.max(end, index + 1);
    if (!isType) this.request(from.text, "import", this.list[index]!.at);
    return end + 1;
  }

  /** Goes to the string that ends a clause, or to the first token that cannot be a part of it. */
  private clauseEnd(start: number): number {
    for (let index = start; ; index++) {
      const token = this.list[index];
      if (!token) return index;
      const isNamed = this.is(index + 1, "as") || this.is(index - 1, "as");
      if (token.kind === "string" && !isNamed) return index;
      const isPart = token.kind === "name" || token.kind === "string" || "{},*".includes(token.text);
      if (!isPart || (!isNamed && ["import", "export", "const", "function", "class"].includes(token.text)))
        return index;
    }
  }

  private requireAt(index: number): void {
    const { at } = this.list[index]!;
    if (this.is(index - 1, "typeof") || this.is(index - 1, "function")) return;
    if (this.is(index + 1, ".") && /^(?:resolve|main|cache|extensions)$/.test(this.list[index + 2]?.text ?? "")) return;
    if (this.isDeclared(index)) return;
    const [argument, after] = [this.list[index + 2], this.list[index + 3]?.text ?? ""];
    const isPlain = this.is(index + 1, "(") && argument?.kind === "string" && [")", ","].includes(after);
    if (isPlain) this.request(argument.text, "require", at);
    else this.note("computed", at);
  }

  /** `require = createRequire(…)` names what it makes. */
  private isDeclared(index: number): boolean {
    return this.is(index + 1, "=") && this.callOfMaker(index + 2) !== undefined;
  }

  /** The index of the maker's name in `createRequire(` or `module.createRequire(`. */
  private callOfMaker(index: number): number | undefined {
    const at = this.is(index + 1, ".") ? index + 2 : index;
    return this.makers.has(this.list[at]?.text ?? "") && this.is(at + 1, "(") ? at : undefined;
  }

  private findMade(): void {
    const { list } = this;
    if (!this.source.includes("createRequire")) return;
    list.forEach(({ text }, index) => {
      if (text === "createRequire" && this.is(index + 1, "as")) this.makers.add(list[index + 2]?.text ?? "");
    });
    list.forEach(({ kind, text }, index) => {
      if (kind === "name" && this.isDeclared(index)) this.requires.add(text);
    });
  }

  private makerAt(index: number): void {
    const { at } = this.list[index]!;
    if (!this.is(index + 1, "(")) return;
    const written = this.list.slice(index + 2, index + 8).map(({ text }) => text);
    const isMeta = /^import\.meta\.(?:url|filename)\)/.test(written.join(""));
    if (!isMeta && !(written[0] === "__filename" && written[1] === ")")) return this.note("computed", at);
    const after = index + (isMeta ? 8 : 4);
    const [argument, close] = [this.list[after + 1], after + 2];
    const start = this.is(index - 1, ".") ? index - 2 : index;
    if (this.is(after, "(") && argument?.kind === "string" && this.is(close, ")")) {
      this.request(argument.text, "require", at);
    } else if (!this.is(start - 1, "=") || this.list[start - 2]?.kind !== "name") this.note("computed", at);
  }

  private processAt(index: number): void {
    const { at } = this.list[index]!;
    const name = this.list[index + 2]?.text;
    if (name === "binding" || name === "dlopen") this.note("addon", at);
    if (name === "execve") this.note("programs", at);
    if (name === "loadEnvFile") this.note("files", at);
    if (name !== "getBuiltinModule") return;
    const argument = this.list[index + 4];
    if (argument?.kind === "string") this.request(argument.text, "require", at);
    else this.note("computed", at);
  }

  private hasTwo(open: number): boolean {
    let depth = 0;
    for (let index = open; index < open + MAX_CALL; index++) {
      const { kind, text } = this.list[index] ?? { kind: "mark", text: "" };
      if (text === "" && kind === "mark") return false;
      if (kind !== "mark") continue;
      if ("([{".includes(text)) depth++;
      else if (")]}".includes(text)) depth--;
      if (depth === 0) return false;
      if (depth === 1 && text === ",") return true;
    }
    return true;
  }

  private request(specifier: string, mode: Mode, at: number): void {
    if (isBuiltin(specifier)) {
      const unknown = BUILTINS[specifier.replace(/^node:/, "")];
      if (unknown) this.note(unknown, at);
    } else this.reading.requests.push({ specifier, mode, line: this.lineOf(at) });
    if (specifier.endsWith(".node")) this.note("addon", at);
  }

  private note(unknown: Unknown, at: number): void {
    if (!this.reading.unknowns.has(unknown)) this.reading.unknowns.set(unknown, this.lineOf(at));
  }

  private is(index: number, text: string): boolean {
    const token = this.list[index];
    return token?.text === text && token.kind !== "string";
  }

  /** Tells whether a name is a property's, and no variable. */
  private isKey(index: number): boolean {
    return this.is(index + 1, ":") && (this.is(index - 1, "{") || this.is(index - 1, ","));
  }

  private lineOf(at: number): number {
    // Places come in order, but for few.
    if (at < this.line.at) this.line = { number: 1, at: 0 };
    for (let next = this.source.indexOf("\n", this.line.at); next >= 0 && next < at; ) {
      this.line = { number: this.line.number + 1, at: next + 1 };
      next = this.source.indexOf("\n", this.line.at);
    }
    return this.line.number;
  }
}

/** Tells whether a clause brings in types only: `type x`, `type { … }`, or `{ type x, type y }`. */
function isTypeOnly(clause: readonly Token[]): boolean {
  const texts = clause.map(({ text }) => text);
  const [first, second] = texts;
  if (first === "type") return texts.length > 1 && second !== ",";
  if (first !== "{" || texts.length < 3) return false;
  const names = texts.slice(1, -1).join(" ").split(",");
  return names.filter((name) => name.trim() !== "").every((name) => /^type (?!as \S+$)\S/.test(name.trim()));
}
