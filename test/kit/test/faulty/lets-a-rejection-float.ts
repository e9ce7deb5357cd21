import type { ExtensionAPI } from "@pi-agent/kernel";

/** Starts something in a timer that fails, and does not look. */
export default function letsARejectionFloat(pi: ExtensionAPI): void {
  pi.on("session_start", () => {
    const timer = setTimeout(() => {
      void Promise.reject(new Error("The index cannot be read."));
    }, 1);
    pi.onDispose(() => clearTimeout(timer));
  });
}
