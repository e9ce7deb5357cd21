import type { ExtensionAPI } from "@pi-agent/kernel";

/** Waits for a key that nobody presses. */
export default function waitsForAPerson(pi: ExtensionAPI): void {
  pi.registerCommand("wait", {
    description: "Waits for a key",
    handler: () => new Promise<void>(() => {}),
  });
}
