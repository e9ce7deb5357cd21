import type { ExtensionAPI } from "@pi-agent/kernel";

/** A tool that sleeps through an abort. */
export default function ignoresAbort(pi: ExtensionAPI): void {
  const timers = new Set<NodeJS.Timeout>();
  pi.registerTool({
    name: "sleep",
    description: "Sleeps for a while.",
    defaultActive: false,
    parameters: { type: "object", properties: {} },
    async execute() {
      await new Promise((resolve) => timers.add(setTimeout(resolve, 5_000)));
      return { content: [] };
    },
  });
  pi.onDispose(() => {
    for (const timer of timers) clearTimeout(timer);
  });
}
