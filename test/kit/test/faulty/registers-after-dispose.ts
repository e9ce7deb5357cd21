import type { ExtensionAPI } from "@pi-agent/kernel";

/** Registers a tool when it is being unloaded. */
export default function registersAfterDispose(pi: ExtensionAPI): void {
  pi.onDispose(() => {
    pi.registerCommand("farewell", { description: "Says goodbye", handler() {} });
  });
}
