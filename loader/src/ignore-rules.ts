/** Ignore files, which a project may bring too. As git reads them, but for classes and escapes, which are literal. */
import { matchesPattern, type Pattern, toPatterns } from "./pattern.ts";

interface Rule {
  pattern: Pattern;
  isFolderOnly: boolean;
  isBack: boolean;
}

/** Tells whether a path below the ignore file's folder is ignored. */
export type IsIgnored = (path: string, isFolder: boolean) => boolean;

/** Reads an ignore file; the last line that matches decides. Fails with a `Refusal` for too many or too long lines. */
export function readIgnoreFile(text: string, name: string): IsIgnored {
  const lines = text
    .replace(/^\uFEFF/, "")
    .toLowerCase()
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "" && !line.startsWith("#"));
  const patterns = toPatterns(lines.map(toText), name);
  const rules = lines.map((line, index): Rule => {
    return { pattern: patterns[index] ?? [], isFolderOnly: line.endsWith("/"), isBack: line.startsWith("!") };
  });
  return (path, isFolder) => {
    const lower = path.toLowerCase();
    const fits = ({ pattern, isFolderOnly }: Rule) => (isFolder || !isFolderOnly) && matchesPattern(lower, pattern);
    const deciding = rules.findLast(fits);
    return deciding !== undefined && !deciding.isBack;
  };
}

/** The pattern of a line: one with a slash before its end holds from the ignore file's folder, others at any depth. */
function toText(line: string): string {
  const text = line.replace(/^!/, "").replace(/^\\(?=[!#])/, "");
  const path = text.endsWith("/") ? text.slice(0, -1) : text;
  if (!path.includes("/")) return `**/${path}`;
  return path.startsWith("/") ? path.slice(1) : path;
}
