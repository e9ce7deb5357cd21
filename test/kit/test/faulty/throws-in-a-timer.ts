import type { ExtensionAPI } from "@pi-agent/kernel";

/** Fails where nobody can catch it. */
export default function throwsInATimer(pi: ExtensionAPI): void {
  pi.on("session_start", () => {
    const timer = setTimeout(() => {
      throw new Error("The clock stopped.");
    }, 1);
    pi.onDispose(() => clearTimeout(timer));
  });
}
