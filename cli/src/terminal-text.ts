// Control characters but the two that lay text out, what turns the direction of text, and what cannot be seen.
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
// The same without what answers need: joiners of emoji and of scripts.
const CONTROLS = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu;

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
