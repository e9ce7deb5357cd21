import type { ExtensionAPI } from "@pi-agent/kernel";

/** Talks where programs read the answer. */
export default function writesToStdout(pi: ExtensionAPI): void {
  pi.on("turn_end", () => {
    process.stdout.write("A turn is over.\n");
  });
}
