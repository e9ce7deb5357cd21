import type { ExtensionAPI } from "@pi-agent/kernel";

/** A tool that says it has stopped, and goes on. */
export default function actsAfterAbort(pi: ExtensionAPI): void {
  const timers = new Set<NodeJS.Timeout>();
  pi.registerTool({
    name: "count",
    description: "Counts slowly.",
    parameters: { type: "object", properties: {} },
    execute(_id, _args, signal, onUpdate) {
      const timer = setInterval(() => onUpdate({ content: [{ type: "text", text: "One more." }] }), 10);
      timers.add(timer);
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve({ content: [] }), { once: true }));
    },
  });
  pi.onDispose(() => {
    for (const timer of timers) clearInterval(timer);
  });
}
