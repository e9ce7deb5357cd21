import type { Agent, ExtensionAPI } from "@pi-agent/kernel";
import type { Link } from "./link.ts";
import { Recorder } from "./recorder.ts";

/** Records the runs of an agent, and of the agents that it makes. */
export function recordRuns(pi: ExtensionAPI, link: Link): void {
  const spool = () => link.hub().spool;
  const running = new Set<Recorder>();
  const record = (on: Agent["on"], more: { activeTools(): readonly string[]; parentRunId?: string }) => {
    new Recorder({ spool, ...more, running }).listen(on);
    on("child_created", ({ child, parentRunId }) => {
      const parent = parentRunId === undefined ? {} : { parentRunId };
      record((event, handler) => child.on(event, handler), { activeTools: () => child.state.activeTools, ...parent });
    });
  };
  record((event, handler) => pi.on(event, handler), { activeTools: () => pi.getActiveTools() });
  // What an earlier run has left goes in while this one works.
  pi.on("session_start", () => void link.hub());
  pi.onDispose(() => {
    for (const recorder of running) recorder.stop();
  });
}
