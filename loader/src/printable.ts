// Control characters, what changes the direction of text, and what cannot be seen.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Makes a name of somebody else's fit to be shown: what could hide or move text is spelled out. */
export function toPrintable(text: string): string {
  return text.replace(UNSEEN, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}
