import type { ExtensionAPI } from "@pi-agent/kernel";

/** Works through the `pi` of its first life. */
let first: ExtensionAPI | undefined;

export default function keepsTheFirstHandle(pi: ExtensionAPI): void {
  first ??= pi;
  first.events.on("news", () => {});
}
