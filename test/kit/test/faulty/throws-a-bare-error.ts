import type { ExtensionAPI } from "@pi-agent/kernel";

/** Says that something went wrong, and nothing else. */
export default function throwsABareError(pi: ExtensionAPI): void {
  pi.registerCommand("deploy", {
    description: "Deploys",
    handler() {
      throw new Error("failed");
    },
  });
}
