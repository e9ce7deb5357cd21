import type { ExtensionAPI } from "@pi-agent/kernel";

/**
 * What deletes, wherever it stands in a command: asking once too often is better than once too seldom.
 * A shell has more ways than anybody can list. This stops accidents; it is no wall against a model that wants to.
 */
const DELETES =
  /(?<![\w.-])(?:rm|rmdir|unlink|shred|truncate|wipefs|mkfs(?:\.\w+)?|dd)(?![\w./-])|\s-delete\b|\bgit\b[^\n;&|]*\s(?:clean|reset\s[^\n;&|]*--hard)\b/;

/** Asks before a shell command that deletes. Where nobody can be asked, the answer is no. */
export default function askBeforeDelete(pi: ExtensionAPI): void {
  pi.on("tool_call", async ({ toolName, input }, ctx) => {
    if (toolName !== "bash" || typeof input.command !== "string") return;
    if (!DELETES.test(input.command)) return;
    // The clock of a handler stands still while it waits for a person.
    if (await ctx.ui.confirm("This command deletes something. Run it?", input.command, { signal: ctx.signal })) return;
    const why = ctx.hasUI ? "the person said no" : "it deletes something, and nobody is here to allow that";
    return { block: true, reason: `The command was not run: ${why}. Do without it, or say what has to be deleted.` };
  });
}
