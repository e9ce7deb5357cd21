/** Figures and foreign text, for a reader at a terminal. */

/** Makes foreign text safe for one line: nothing in it moves, turns or hides text. */
export function toLineText(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd");
}

/** The columns that a text takes: scripts that are not ours may be drawn wide. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const char of text) columns += char > "\u10ff" && char !== "…" ? 2 : 1;
  return columns;
}

/** Cuts a text to so many columns. */
export function cutText(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let cut = "";
  let left = columns - 1;
  for (const char of text) {
    left -= columnsOf(char);
    if (left < 0) break;
    cut += char;
  }
  return `${cut}…`;
}

/** A count of tokens, or of anything: 950, 12.3k, 4.5M. */
export function toCount(count: number): string {
  if (count < 1_000) return String(count);
  const [unit, size] = count < 999_500 ? ["k", 1_000] : ["M", 1_000_000];
  const value = count / (size as number);
  return `${value < 99.95 ? value.toFixed(1) : Math.round(value)}${unit}`;
}

/** US dollars: small sums keep the figures that tell them apart. */
export function toCost(cost: number | null): string {
  if (cost === null) return "-";
  if (cost === 0) return "$0";
  return cost < 0.1 ? `$${cost.toFixed(4)}` : `$${cost.toFixed(2)}`;
}

/** How long something took: 340 ms, 12 s, 3 min 20 s, 2 h 5 min. */
export function toDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A moment in the reader's own time, to the minute: today only the hour. */
export function toMoment(at: Date, now: Date = new Date()): string {
  const [day, today] = [dayOf(at), dayOf(now)];
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (day === today) return clock;
  return day.slice(0, 4) === today.slice(0, 4) ? `${day.slice(5)} ${clock}` : day;
}

export function toSize(bytes: number): string {
  return bytes < 1_000 ? `${bytes} B` : `${toCount(bytes)}B`;
}

function dayOf(date: Date): string {
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}
