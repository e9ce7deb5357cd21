import { openSync } from "node:fs";
import type { ExtensionAPI } from "@pi-agent/kernel";

/** Opens a file and forgets it. */
export default function keepsAFileOpen(pi: ExtensionAPI): void {
  pi.on("session_start", () => {
    openSync(import.meta.filename, "r");
  });
}
