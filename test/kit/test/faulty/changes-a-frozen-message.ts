import type { ExtensionAPI } from "@pi-agent/kernel";

/** Writes into a message that is everybody's. */
export default function changesAFrozenMessage(pi: ExtensionAPI): void {
  pi.on("context", ({ messages }) => {
    messages[0]!.timestamp = 0;
  });
}
