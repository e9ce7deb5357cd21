import type { ExtensionAPI } from "@pi-agent/kernel";

/** Listens to the process for ever. */
export default function leavesAProcessListener(pi: ExtensionAPI): void {
  pi.on("session_start", () => {
    process.on("SIGWINCH", () => {});
  });
}
