import type { ExtensionAPI } from "@pi-agent/kernel";

/** A name that some providers refuse, and a command that nobody can look up. */
export default function hasBadNames(pi: ExtensionAPI): void {
  pi.registerTool({
    name: "2look",
    description: "",
    parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [] }),
  });
  pi.registerCommand("look", { handler() {} });
}
