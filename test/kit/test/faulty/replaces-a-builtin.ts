import type { ExtensionAPI } from "@pi-agent/kernel";

/** Has everybody's JSON go through its own hands. */
export default function replacesABuiltin(pi: ExtensionAPI): void {
  const original = JSON.stringify;
  pi.on("turn_end", () => {
    JSON.stringify = ((...given: Parameters<typeof original>) => original(...given)) as typeof original;
  });
}
