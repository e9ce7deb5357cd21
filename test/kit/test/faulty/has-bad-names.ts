import type { ExtensionAPI } from "@pi-agent/kernel";

/** Names that a provider refuses, and a command that nobody can look up. */
export default function hasBadNames(pi: ExtensionAPI): void {
  pi.registerTool({
    name: "look up",
    description: "",
    parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [] }),
  });
  pi.registerCommand("look", { handler() {} });
}
