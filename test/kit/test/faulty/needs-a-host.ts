import type { ExtensionAPI } from "@pi-agent/kernel";

/** Changes a setting before there may be any. */
export default async function needsAHost(pi: ExtensionAPI): Promise<void> {
  await pi.service("settings")!.set("needsAHost.seen", true);
}
