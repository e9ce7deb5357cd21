/** Finds agents by name, and makes plans of them with what is loaded. */
import type { AgentError, ExtensionAPI, Model, Owner, Resource, ThinkingLevel } from "@pi-agent/kernel";
import { type Problem, quote, readAgentFile, toLine } from "./agent-file.ts";
import { listAgents, skillNameOf } from "./catalog.ts";
import { nearestName } from "./nearest.ts";
import { type AgentPlan, type Known, planAgent } from "./plan.ts";

/** An agent that there is. */
export interface AgentSummary {
  name: string;
  path: string;
  scope: Resource["scope"];
  description?: string;
  /** What it chooses, where it does. */
  model?: Model;
  thinking?: ThinkingLevel;
  /** The tools that it may use, and no other; absent: any. A faulty one has none. */
  tools?: readonly string[];
  /** Why it cannot be used (`agent_file`). */
  fault?: AgentError;
}

/** Finds the file of an agent. Fails with `unknown_agent`. */
export function findAgent(pi: ExtensionAPI, name: string): Resource {
  const { agents } = listAgents(pi.service("resources"));
  const found = agents.get(name);
  if (found) return found;
  const near = nearestName(name, agents.keys());
  const there = near ? `Did you mean ${near}?` : `There are: ${[...agents.keys()].map(toLine).join(", ") || "none"}.`;
  const place =
    "An agent is a file agents/<name>.md in the agent directory, or in the .pi of a project that is trusted.";
  throw pi.error("unknown_agent", `There is no agent ${quote(name)}.`, { hint: `${there} ${place}` });
}

/** Makes the plan of an agent's file. `skills`: all that there are. Fails with `agent_file`. */
export function planOf(pi: ExtensionAPI, resource: Resource, skills: readonly Resource[]): AgentPlan {
  const { file, problems } = readAgentFile(resource);
  const { plan, problems: more } = planAgent(file, knownTo(pi, skills));
  if (problems.length + more.length > 0) throw wordFaulty(pi, resource, [...problems, ...more]);
  return plan;
}

/** Tells which agents there are, also those that cannot be used. */
export function summarizeAgents(pi: ExtensionAPI, skills: readonly Resource[]): AgentSummary[] {
  return [...listAgents(pi.service("resources")).agents].map(([name, resource]) => {
    const { path, scope } = resource;
    const { description } = readAgentFile(resource).file;
    try {
      const { allowed, model, thinking } = planOf(pi, resource, skills);
      return { name, path, scope, description, model, thinking, tools: allowed };
    } catch (thrown) {
      return { name, path, scope, description, tools: [], fault: thrown as AgentError };
    }
  });
}

function knownTo(pi: ExtensionAPI, skills: readonly Resource[]): Known {
  const owners = [...pi.getAllTools(), ...pi.getCommands()].map(({ owner }) => owner);
  return {
    tools: pi.getAllTools().map(({ name, owner }) => ({ name, package: packageNameOf(owner) })),
    packages: [...new Set(owners.map(packageNameOf))],
    skills: skills.map(skillNameOf),
    findModel(reference) {
      const models = pi.service("models");
      if (models) return models.resolve(reference);
      throw new Error("nothing here knows models by name");
    },
  };
}

function packageNameOf({ name, package: of = name }: Owner): string {
  return of;
}

function wordFaulty(pi: ExtensionAPI, { path }: Resource, problems: readonly Problem[]): AgentError {
  const whats = problems.map(({ what }) => what).join("; ");
  const hints = [...new Set(problems.map(({ hint }) => hint))].join(" ");
  return pi.error("agent_file", `The agent of ${toLine(path)} cannot be used: ${whats}.`, { hint: hints });
}
