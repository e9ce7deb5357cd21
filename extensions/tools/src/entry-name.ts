/** Shows a file name in one unambiguous line: one with control characters, or that starts with a quote, in quotes. */
export function showName(name: string): string {
  return name.startsWith('"') || UNSEEN.test(name) ? JSON.stringify(name).replace(UNESCAPED, escape) : name;
}

// Controls and the line separators of Unicode.
const UNSEEN = /[\p{Cc}\u2028\u2029]/u;
const UNESCAPED = /[\u007f-\u009f\u2028\u2029]/gu;

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
