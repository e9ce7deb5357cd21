import type { ExtensionAPI } from "@pi-agent/kernel";

/** Says that it is there. */
export default function logsToTheConsole(_pi: ExtensionAPI): void {
  console.log("Loaded.");
}
