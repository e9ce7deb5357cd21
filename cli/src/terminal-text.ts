// Control characters but the two that lay text out, what turns the direction of text, and what cannot be seen.
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
// The same without what answers need: joiners of emoji and of scripts.
const CONTROLS = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu;
// What a reader could be deceived by: also blanks that are none, what is drawn as nothing, piled up marks, and what
// looks as if it were spelled out already.
const DECEIVING =
  /(?![\n\t ])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]|\p{M}{3,}|\\(?=u\{)/gu;

/** Makes foreign text safe to show: nothing that moves, turns or hides text reaches the terminal. */
export function toTerminalText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(UNSEEN, "\ufffd");
}

/** Makes an answer safe to show, and leaves its emoji whole. */
export function toAnswerText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(CONTROLS, "\ufffd");
}

/** The same on one line, cut to `width` columns. */
export function toTerminalLine(text: string, width: number): string {
  const line = toTerminalText(text).trim().replace(/\s+/g, " ");
  return line.length > width ? `${line.slice(0, width - 1)}…` : line;
}

/** Spells out everything in a text that could deceive who reads it; lines and indents stay. */
export function spellOut(text: string): string {
  return text.replace(DECEIVING, spell);
}

/** Makes a name that others chose fit for one line: two different names look different. Cut in its middle to `columns`. */
export function toTerminalName(name: string, columns = Number.POSITIVE_INFINITY): string {
  return cutMiddle(spellOut(name).replace(/[\n\t]|^ +| +$| {2,}/g, spell), columns);
}

/** The columns that a text may take at most: scripts that are not ours may be drawn wide. */
export function columnsOf(text: string): number {
  return Array.from(text, (char) => (char > "\u007f" && char !== "…" ? 2 : 1)).reduce<number>(
    (sum, each) => sum + each,
    0,
  );
}

function spell(chars: string): string {
  return Array.from(chars, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`).join("");
}

/** Keeps the begin and, since it says what a file is, more of the end. */
function cutMiddle(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  const chars = Array.from(text);
  const begin = takeColumns(chars, Math.floor((columns - 1) / 3));
  const end = takeColumns(chars.toReversed(), columns - 1 - columnsOf(begin.join("")));
  return `${begin.join("")}…${end.toReversed().join("")}`;
}

function takeColumns(chars: readonly string[], columns: number): string[] {
  let left = columns;
  const taken: string[] = [];
  for (const char of chars) {
    left -= columnsOf(char);
    if (left < 0) break;
    taken.push(char);
  }
  return taken;
}
