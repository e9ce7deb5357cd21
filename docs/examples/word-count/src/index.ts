import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ExtensionAPI } from "@pi-agent/kernel";
import { Type } from "typebox";

/** Adds a tool that counts the lines, words and characters of files. */
export default function wordCount(pi: ExtensionAPI): void {
  pi.registerTool({
    name: "word_count",
    description: "Counts the lines, words and characters of text files.",
    promptSnippet: "Count the lines, words and characters of text files",
    parameters: Type.Object({
      paths: Type.Array(Type.String(), { minItems: 1, description: "Files, relative to the working directory" }),
    }),
    effect: "read",
    touches: ({ paths }, { cwd }) => ({ read: paths.map((path) => resolve(cwd, path)) }),
    async execute(_id, { paths }, signal, onUpdate, { cwd }) {
      const rows: Row[] = [];
      for (const path of paths) {
        const text = await readFile(resolve(cwd, path), { encoding: "utf8", signal }).catch((cause: Error) => {
          throw pi.error("unreadable", `${path} cannot be read: ${cause.message}.`, {
            hint: "Name a file that exists, relative to the working directory.",
            cause,
          });
        });
        rows.push({ path, ...count(text) });
        onUpdate(toResult(rows));
      }
      return toResult(rows);
    },
  });
}

type Row = { path: string } & ReturnType<typeof count>;

function count(text: string) {
  return {
    lines: text.split("\n").length - (text.endsWith("\n") || text === "" ? 1 : 0),
    words: text.match(/\S+/g)?.length ?? 0,
    characters: Array.from(text).length,
  };
}

/** The model reads the text; `details` are for whoever renders or logs the call. */
function toResult(rows: Row[]) {
  const lines = rows.map((row) => `${row.path}: ${row.lines} lines, ${row.words} words, ${row.characters} characters`);
  return { content: [{ type: "text" as const, text: lines.join("\n") }], details: [...rows] };
}
