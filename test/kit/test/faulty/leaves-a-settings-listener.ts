import type { ExtensionAPI } from "@pi-agent/kernel";

/** Listens to the settings and never stops. */
export default function leavesASettingsListener(pi: ExtensionAPI): void {
  pi.service("settings")?.onChange(() => {});
}
