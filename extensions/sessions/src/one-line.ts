/** Makes one line of what others wrote, as it stands in a row or a sentence: it begins no row of its own. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
}
