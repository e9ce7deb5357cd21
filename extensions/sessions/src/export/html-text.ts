/** Text of any origin, as text of a page: it can neither become markup nor turn or hide what stands beside it. */

const ESCAPE = "\u001b";
const BELL = "\u0007";
// Colours and moves of a terminal, and its titles and links.
const ANSI = new RegExp(
  `${ESCAPE}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${BELL}${ESCAPE}]*(?:${BELL}|${ESCAPE}\\\\)?|[@-Z\\\\^_])`,
  "g",
);
// What markup is made of, control characters but tab and line feed, and what turns the direction of text.
const UNSAFE = /[&<>"']|(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu;
const MARKUP: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes a text for a page, also within an attribute. Of files of others it may be no text at all. */
export function toHtml(given: unknown): string {
  const text = typeof given === "string" ? given : (JSON.stringify(given) ?? "");
  const plain = text.toWellFormed().replace(ANSI, "").replace(/\r\n?/g, "\n");
  return plain.replace(UNSAFE, (char) => MARKUP[char] ?? spell(char));
}

/** A control character as its picture, the others by their number. */
function spell(char: string): string {
  const code = char.charCodeAt(0);
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : `\\u{${code.toString(16)}}`;
}

/** Sets a text of several paragraphs; what stands between fences is code. */
export function textBlock(text: string): string {
  const blocks: string[] = [];
  let isCode = false;
  let lines: string[] = [];
  const close = () => {
    const block = toHtml(lines.join("\n"));
    if (isCode) blocks.push(`<pre class="code">${block}</pre>`);
    else if (block.trim() !== "") blocks.push(`<div class="text">${block.trim()}</div>`);
    lines = [];
  };
  for (const line of text.split("\n")) {
    if (/^ {0,3}```/.test(line)) {
      close();
      isCode = !isCode;
    } else lines.push(line);
  }
  close();
  return blocks.join("\n");
}

/** Folds a text behind its title. Both become text of the page here; `body` is markup already. */
export function fold(title: string, body: string, kind = ""): string {
  return `<details class="${kind}"><summary>${toHtml(title)}</summary>${body}</details>`;
}

/** A text as it is. */
export function verbatim(text: string): string {
  return `<pre>${toHtml(text)}</pre>`;
}
