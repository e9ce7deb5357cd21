/** Why an agent does not do what it is asked for. */
import type { Activity } from "./contract.ts";
import { AgentError } from "./errors.ts";

export function abortedEarly(): AgentError {
  return new AgentError("aborted", "The prompt was aborted before its run began.", { hint: "Send it again." });
}

export function disposed(): AgentError {
  return new AgentError("disposed", "This agent was disposed of.", { hint: "Make another one." });
}

export function busy(action: string, activity: Activity): AgentError {
  return new AgentError("busy", `Cannot ${action}: the agent is ${activity}.`, {
    hint: "Wait for agent.settled(), or use steer() or followUp().",
  });
}
