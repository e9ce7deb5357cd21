import type { ExtensionAPI } from "@pi-agent/kernel";

let counts: Map<string, number> | undefined;

/** Keeps in its module what the next copy of it uses too, and throws it away when it goes. */
export default function takesItsSuccessorDown(pi: ExtensionAPI): void {
  counts = new Map();
  pi.on("turn_start", ({ runId }) => void counts!.set(runId, 1));
  pi.onDispose(() => {
    counts = undefined;
  });
}
