import type { ExtensionAPI } from "@pi-agent/kernel";
import { type Hub, joinHub } from "./hub.ts";
import { readSettings } from "./settings.ts";

/** An agent's way to the hub of its database, which is joined at the first use and left with the agent. */
export interface Link {
  hub(): Hub;
}

/** Makes the link of an agent. */
export function createLink(pi: ExtensionAPI): Link {
  let joined: Hub | undefined;
  pi.onDispose(async () => {
    await joined?.leave();
    joined = undefined;
  });
  return {
    hub() {
      if (joined) return joined;
      // What is told last is told while the agent goes, and its context with it.
      const { ui } = pi.context;
      joined = joinHub(readSettings(pi), pi, (message, level) => ui.notify(message, level));
      return joined;
    },
  };
}
