/**
 * Compiles what most extensions are written in many times quicker than jiti's own compiler, to the same form: code that
 * awaits `jitiImport` for each import. Answers nothing for a text that could mean something it does not know; jiti's
 * compiler takes that.
 */
import { Script } from "node:vm";
import type { TransformOptions } from "jiti";

export type FastCompile = (given: TransformOptions) => string | undefined;

// Left out in silence, or left standing: namespaces, decorators, `using`, and the ways in which modules ask for others.
const FOREIGN = [
  /\b(?:require|jitiImport)\b/,
  /\bnamespace\s+[\w$.]+\s*\{/,
  /\bmodule\s*(?:[.{"'[]|[\w$]+\s*\{)/,
  /\baccessor\s+[\w$#[]/,
  /(?:^|[;{}()])\s*(?:await\s+)?using\s+[\w$]/m,
  /(?:^|[;{}()\]])\s*@[\w$(]/m,
  /\bimport\s*[(.]/,
  /\bexport\s*(?:=|import\b|as\b)/,
];
const REQUIRE = /\brequire\(('[^'\n]*'|"[^"\n]*")\)/g;

/** Loads the compiler. */
export async function loadFastCompile(): Promise<FastCompile> {
  const { transform } = await import("sucrase");
  return ({ source, ts, async: isAsync, jsx, filename }) => {
    if (!isAsync || jsx || source.startsWith("#!") || FOREIGN.some((pattern) => pattern.test(source))) return undefined;
    try {
      const { code } = transform(source, {
        transforms: ts ? ["typescript", "imports"] : ["imports"],
        disableESTransforms: true,
        filePath: filename,
      });
      const compiled = code.replace(REQUIRE, "(await jitiImport($1))");
      // It does not see every mistake, and makes code of it that is none.
      void new Script(`(async function () { ${compiled}\n})`);
      return compiled;
    } catch {
      // jiti's compiler words what is wrong.
      return undefined;
    }
  };
}
