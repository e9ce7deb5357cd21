// Every control character but the two that lay text out.
const CONTROLS = /(?![\n\t])\p{Cc}/gu;

/** Makes foreign text safe to show: no control character but tab and line feed reaches the terminal. */
export function toTerminalText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(CONTROLS, "\ufffd");
}

/** The same on one line, cut to `width` columns. */
export function toTerminalLine(text: string, width: number): string {
  const line = toTerminalText(text).trim().replace(/\s+/g, " ");
  return line.length > width ? `${line.slice(0, width - 1)}…` : line;
}
