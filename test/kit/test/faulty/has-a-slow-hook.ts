import type { ExtensionAPI } from "@pi-agent/kernel";

/** Reads the whole answer again with every piece of it. */
export default function hasASlowHook(pi: ExtensionAPI): void {
  pi.on("message_update", () => {
    const end = performance.now() + 4;
    while (performance.now() < end);
  });
}
