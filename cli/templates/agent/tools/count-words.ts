import type { ExtensionAPI } from "@pi-agent/kernel";
import { Type } from "typebox";

/** Adds a tool that counts the words of a text. */
export default function countWords(pi: ExtensionAPI): void {
  pi.registerTool({
    name: "count_words",
    description: "Counts the words of a text.",
    promptSnippet: "Count the words of a text",
    parameters: Type.Object({ text: Type.String({ description: "The text" }) }),
    // It changes nothing, so it also runs where only reading is allowed.
    effect: "read",
    async execute(_id, { text }) {
      const count = text.match(/\S+/g)?.length ?? 0;
      return { content: [{ type: "text", text: `${count} words` }] };
    },
  });
}
