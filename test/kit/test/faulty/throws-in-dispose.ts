import type { ExtensionAPI } from "@pi-agent/kernel";

/** Cannot take back what it did. */
export default function throwsInDispose(pi: ExtensionAPI): void {
  pi.onDispose(() => {
    throw pi.error("no_way_back", "The connection was closed before.", { hint: "Load it again." });
  });
}
