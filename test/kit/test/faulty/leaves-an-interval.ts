import type { ExtensionAPI } from "@pi-agent/kernel";

/** Looks every minute, also when it was unloaded. */
export default function leavesAnInterval(pi: ExtensionAPI): void {
  pi.on("session_start", () => {
    setInterval(() => {}, 60_000).unref();
  });
}
