import type { Resource, Services } from "@pi-agent/kernel";
import { skillNameOf } from "./catalog.ts";
import type { AgentPlan } from "./plan.ts";

/** The service `resources` as an agent lets it be seen: its skills and no other ones, its prompt as a system prompt. */
export function offerResources(
  below: Services["resources"],
  inForce: () => AgentPlan | undefined,
): Services["resources"] {
  return {
    list(kind) {
      const plan = inForce();
      const all = below.list(kind);
      if (kind === "skill" && plan?.skills) return all.filter((each) => plan.skills!.includes(skillNameOf(each)));
      if (kind === "system-prompt" && plan?.file.prompt) return [promptOf(plan), ...all];
      return all;
    },
  };
}

/** An agent's prompt in the place of a SYSTEM.md. */
function promptOf({ file }: AgentPlan): Resource {
  const { path, scope, prompt } = file;
  return {
    id: `system-prompt:${path}`,
    kind: "system-prompt",
    path,
    source: "agent",
    scope,
    state: "loaded",
    text: () => prompt,
  };
}
