import type { ExtensionAPI } from "@pi-agent/kernel";

/** Answers a promise for every piece of an answer. */
export default function isAsynchronousForNothing(pi: ExtensionAPI): void {
  let characters = 0;
  pi.on("message_update", async ({ assistantMessageEvent: event }) => {
    if (event.type === "text_delta") characters += event.delta.length;
  });
}
