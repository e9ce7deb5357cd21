import { createServer } from "node:net";
import type { ExtensionAPI } from "@pi-agent/kernel";

/** Serves before anybody asked for it. */
export default function startsAServerInItsFactory(pi: ExtensionAPI): void {
  const server = createServer().listen(0, "127.0.0.1");
  pi.onDispose(() => void server.close());
}
