/** Bounds an escape sequence that never ends; a longer one is text. */
const MAX_SEQUENCE = 4_096;

const ESC = "\\u001b";
const BEL = "\\u0007";
/** The escape sequences of ECMA-48: control, operating system, other strings, single ones; and control in one byte. */
const SEQUENCE = new RegExp(
  [
    `${ESC}\\[[0-?]*[ -/]*[@-~]`,
    `${ESC}\\][^${BEL}${ESC}\\n]*(?:${BEL}|${ESC}\\\\)`,
    `${ESC}[PX^_][^${ESC}]*${ESC}\\\\`,
    `${ESC}[ -/]*[0-OQ-WYZ\\\\\`-~]`,
    "\\u009b[0-?]*[ -/]*[@-~]",
  ].join("|"),
  "g",
);
/** One of them that has not ended yet. */
const OPEN_SEQUENCE = new RegExp(
  `${ESC}(?:\\[[0-?]*[ -/]*|\\][^${BEL}${ESC}\\n]*${ESC}?|[PX^_][^${ESC}]*${ESC}?|[ -/]*)$`,
);
// Controls other than tab and newline, and code points that are no characters.
const UNSAFE = /[\p{Cc}\ufffe\uffff]/gu;

/**
 * Makes text that can be stored, sent and shown of a program's bytes, chunk by chunk: characters may be cut between
 * chunks, escape sequences go, a lone CR is a line break, other control characters go.
 */
export class SafeText {
  readonly #decoder = new TextDecoder();
  /** The start of an escape sequence, or a CR, whose end is in the next chunk. */
  #open = "";
  /** Whether anything but escape sequences was replaced or left out. */
  isCleaned = false;

  push(bytes: Uint8Array): string {
    return this.#clean(this.#decoder.decode(bytes, { stream: true }), false);
  }

  end(): string {
    return this.#clean(this.#decoder.decode(), true);
  }

  #clean(decoded: string, isLast: boolean): string {
    let text = this.#open + decoded;
    this.#open = "";
    if (decoded.includes("\ufffd")) this.isCleaned = true;
    if (PLAIN.test(text)) return text;
    text = text.replace(SEQUENCE, "");
    if (!isLast) {
      this.#open = (text.endsWith("\r") ? "\r" : OPEN_SEQUENCE.exec(text)?.[0]) ?? "";
      if (this.#open.length > MAX_SEQUENCE) this.#open = "";
      text = text.slice(0, text.length - this.#open.length);
    }
    return text
      .replaceAll("\r\n", "\n")
      .replaceAll("\r", "\n")
      .replace(UNSAFE, (unsafe) => {
        if (unsafe === "\n" || unsafe === "\t") return unsafe;
        this.isCleaned = true;
        return "";
      });
  }
}

const PLAIN = /^[\t\n\u0020-\u007e\u00a0-\ufffd]*$/;
