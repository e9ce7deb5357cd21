/** What a person is told about agents. */
import type { AgentError, Resource } from "@pi-agent/kernel";
import { quote, toLine } from "./agent-file.ts";
import type { AgentSummary } from "./lookup.ts";
import type { AgentPlan } from "./plan.ts";

/** An agent that has just been put in force. */
export function wordInForce({ file, allowed, skills }: AgentPlan): string {
  const offered = skills ? ` Its skills: ${skills.map(quote).join(", ") || "none"}.` : "";
  return `The agent ${file.name} is in force. ${wordTools(allowed)}${offered}`;
}

/** One whose file gives it other tools by now. */
export function wordChanged(plan: AgentPlan): string {
  return `The file of the agent has changed. ${wordInForce(plan)}`;
}

/** One that a session was held with. */
export function wordRestored(plan: AgentPlan): string {
  return `This session has an agent of its own. ${wordInForce(plan)} /agent off goes back to the default.`;
}

/** One whose file is gone, no longer trusted, or faulty (`fault`), now or since its session was left. */
export function wordGone({ file, allowed, skills }: AgentPlan, fault?: AgentError): string {
  const why = fault ? `: ${fault.message} ${fault.hint ?? ""}` : ": its file is not there, or not trusted.";
  const left = `What it was held to still holds. ${wordTools(allowed)} /agent off goes back to the default.`;
  return `The agent ${quote(file.name)} is not in force any more${why} ${allowed || skills ? left : "The default is in force."}`;
}

/** One whose file was changed to what cannot be used. */
export function wordKept(name: string, { message, hint }: AgentError): string {
  return `${message} ${hint ?? ""} The agent ${name} stays as it was.`;
}

/** Two of one name. */
export function wordClash({ loser, winner }: { loser: Resource; winner: Resource }): string {
  return `The agent of ${toLine(loser.path)} is not used: ${toLine(winner.path)} has that name. Rename one of the two.`;
}

/** What `/agent` shows. `left`: the name of one that is gone, and of which only the limits are left. */
export function listForPerson(agents: readonly AgentSummary[], current: string | undefined, left?: string): string {
  const lines = agents.map(({ name, description, scope, fault }) => {
    const mark = name === current ? "*" : fault ? "!" : " ";
    const text = fault ? `${fault.message} ${fault.hint ?? ""}` : toLine(description ?? "");
    return `${mark} ${toLine(name)} (${scope})${text ? `: ${text}` : ""}`;
  });
  const gone = left === undefined ? "" : ` What ${quote(left)} was held to still holds.`;
  const head = current === undefined ? `No agent is in force.${gone}` : `The agent ${current} is in force.`;
  const there = lines.length > 0 ? lines.join("\n") : "There are none: write agents/<name>.md in the agent directory.";
  return `${head} /agent <name> puts one in force, /agent off goes back to the default.\n${there}`;
}

function wordTools(allowed: readonly string[] | undefined): string {
  return allowed ? `Its tools: ${allowed.join(", ") || "none"}.` : "Its tools: the default ones.";
}
