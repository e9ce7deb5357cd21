/** Which agent is to be: the default one, one of a file or folder, or one that a package knows by name. */
import { AgentError, type Flag, type FlagValue } from "@pi-agent/kernel";
import { type AgentDefinition, type LoadOptions, readAgentFile } from "@pi-agent/loader";
import type { Problem } from "./problem.ts";

/** The agent that a program of somebody's own is. */
export interface OwnAgent {
  definition: AgentDefinition;
}

/** Tells a file or folder from the name of an agent. */
export function namesFile(value: FlagValue | undefined): boolean {
  return typeof value === "string" && (/[/\\]|\.json$/i.test(value) || /^\.{1,2}$/.test(value));
}

/**
 * Reads the agent that was typed as a file or folder, relative to the working directory; a program's own goes as it is.
 * Fails with `agent_file`, and with `flag_value` where there is both.
 */
export async function chooseAgent(
  flags: ReadonlyMap<string, FlagValue>,
  own: OwnAgent | undefined,
): Promise<LoadOptions["agent"]> {
  const value = flags.get("agent");
  if (own) {
    if (value === undefined) return { ...own, isOwn: true };
    const problem = describeOwn(own);
    throw new AgentError("flag_value", problem.what, { hint: problem.hint, cause: problem });
  }
  return namesFile(value) ? { definition: await readAgentFile(String(value)) } : undefined;
}

/** Answers what is wrong with the name of an agent where nothing that is loaded knows agents by name. */
export function judgeAgentName(
  flags: ReadonlyMap<string, FlagValue>,
  registered: ReadonlyMap<string, { value: Flag }>,
): Problem | undefined {
  const value = flags.get("agent");
  if (value === undefined || namesFile(value) || registered.has("agent")) return undefined;
  return {
    what: `There is no agent "${String(value)}"`,
    why: "no package that is loaded knows agents by name",
    hint: `name its file: --agent ./${String(value)}.json; or load the package: pi install npm:@pi-agent/agents`,
  };
}

function describeOwn({ definition }: OwnAgent): Problem {
  return {
    what: "--agent cannot be used here",
    why: `this program is the agent ${definition.name}, and no other`,
    hint: "run another agent with: pi --agent FILE",
  };
}
