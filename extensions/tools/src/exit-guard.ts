/** Ends commands at once when this process ends before they do. */
import { killTree, type ProcessRoot } from "./process-tree.ts";

const running = new Set<ProcessRoot>();

/** Has a command killed when this process exits; answers how to leave it be. */
export function guardExit(root: ProcessRoot): () => void {
  if (running.size === 0) process.on("exit", killAll);
  running.add(root);
  return () => {
    running.delete(root);
    if (running.size === 0) process.off("exit", killAll);
  };
}

/** Nothing asynchronous runs any more at that point. */
function killAll(): void {
  for (const root of running) killTree(root);
}
