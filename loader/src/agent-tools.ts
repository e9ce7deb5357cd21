import { AgentError } from "@pi-agent/kernel";
import type { AgentDefinition } from "./agent-file.ts";
import { nearestNames } from "./nearest-names.ts";

/** Fails with `unknown_tool` where an agent's list names a tool that nothing it loads brings: a list is never guessed. */
export function assertToolsKnown({ tools = [], file }: AgentDefinition, known: ReadonlyMap<string, unknown>): void {
  const unknown = tools.filter((name) => !known.has(name));
  const [first] = unknown;
  if (first === undefined) return;
  const names = [...known.keys()];
  const [nearest] = nearestNames(first, names, 1);
  const what = unknown.length === 1 ? `the tool ${first}` : `the tools ${unknown.join(", ")}`;
  throw new AgentError("unknown_tool", `${file} wants ${what}, which nothing that it loads brings.`, {
    hint:
      nearest === undefined
        ? `There are: ${names.join(", ") || "none"}. What brings it may be missing in "packages", or wait for trust: pi trust.`
        : `Did you mean ${nearest}?`,
  });
}
