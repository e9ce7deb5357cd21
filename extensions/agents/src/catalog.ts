/** Which agents there are, by name, and which skills. */
import { basename, dirname } from "node:path";
import type { Resource, Services } from "@pi-agent/kernel";
import { agentNameOf } from "./agent-file.ts";

export interface Catalog {
  agents: ReadonlyMap<string, Resource>;
  /** Those whose name another one has, each with the one that keeps it. */
  losers: readonly { loser: Resource; winner: Resource }[];
}

/** Lists the agents that may be used. A name is the first one's: what the person has comes before a project's. */
export function listAgents(resources: Services["resources"] | undefined): Catalog {
  const agents = new Map<string, Resource>();
  const losers: { loser: Resource; winner: Resource }[] = [];
  for (const resource of resources?.list("agent") ?? []) {
    if (resource.state !== "loaded") continue;
    const name = agentNameOf(resource);
    const winner = agents.get(name);
    if (winner) losers.push({ loser: resource, winner });
    else agents.set(name, resource);
  }
  return { agents, losers };
}

/** The name of a skill: what it says, else its folder's, else its file's. */
export function skillNameOf({ path, frontmatter }: Resource): string {
  const name = frontmatter?.name;
  if (typeof name === "string" && name.trim() !== "") return name.trim();
  return basename(path) === "SKILL.md" ? basename(dirname(path)) : basename(path, ".md");
}
