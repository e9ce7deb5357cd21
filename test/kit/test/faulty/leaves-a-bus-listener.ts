import type { ExtensionAPI } from "@pi-agent/kernel";

/** Comes back to the bus through an old handle after it was unloaded. */
export default function leavesABusListener(pi: ExtensionAPI): void {
  const { events } = pi;
  pi.onDispose(() => {
    setTimeout(() => {
      try {
        events.on("news", () => {});
      } catch {
        // The handle is an old one.
      }
    }, 1);
  });
}
