import type { ExtensionAPI } from "@pi-agent/kernel";

/** A tool whose parameters are no schema. */
export default function hasAnInvalidSchema(pi: ExtensionAPI): void {
  pi.registerTool({
    name: "look_up",
    description: "Looks something up.",
    parameters: { type: "object", properties: { word: { type: "text" } }, required: ["name"] } as never,
    execute: async () => ({ content: [] }),
  });
}
