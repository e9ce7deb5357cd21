import type { ExtensionAPI } from "@pi-agent/kernel";

/** Puts what it knows where everybody finds it. */
export default function leavesAGlobal(pi: ExtensionAPI): void {
  pi.on("agent_start", () => {
    Object.assign(globalThis, { lastExtension: pi.owner.name });
  });
}
