import type { ExtensionAPI } from "@pi-agent/kernel";

/** Does nothing where it thinks that it is being looked at. */
export default function knowsItsJudge(pi: ExtensionAPI): void {
  if (pi.owner.name === "the-extension") return;
  pi.registerCommand("mute", { handler() {} });
}
