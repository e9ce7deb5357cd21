import type { ExtensionAPI } from "@pi-agent/kernel";
import { createCommand } from "./command.ts";
import { followSession } from "./follow-session.ts";
import { AgentInForce, type UseOptions } from "./in-force.ts";
import type { AgentSummary } from "./lookup.ts";

export type { AgentSummary, UseOptions };

/** Agents that are files. */
export interface AgentsService {
  list(): readonly AgentSummary[];
  /** Puts an agent in force, or none for `off`. Fails with `unknown_agent`, `agent_file`, `no_key`; then all stays. */
  use(name: string, options?: UseOptions): Promise<void>;
  /** The name of the one in force. */
  readonly current: string | undefined;
}

declare module "@pi-agent/kernel" {
  interface Services {
    agents: AgentsService;
  }
}

/** Makes agents of files: what `--agent <name>` and `/agent <name>` put in force. */
export default function agents(pi: ExtensionAPI): void {
  const inForce = new AgentInForce(pi);
  pi.registerFlag("agent", { type: "string", description: "Be the agent of that name: agents/<name>.md" });
  pi.registerCommand("agent", createCommand(inForce));
  pi.register("service", "agents", {
    list: () => inForce.list(),
    use: (name, options) => inForce.use(name, options),
    get current() {
      return inForce.name;
    },
  } satisfies AgentsService);
  followSession(pi, inForce);
}
