import { lookup } from "node:dns/promises";
import type { ExtensionAPI } from "@pi-agent/kernel";

/** Asks the network before it is loaded. */
export default async function callsHomeInItsFactory(_pi: ExtensionAPI): Promise<void> {
  await lookup("localhost").catch(() => {});
}
