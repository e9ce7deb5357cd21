import type { Registered } from "./contract.ts";
import type { ToolSchema } from "./messages.ts";
import type { Registries } from "./registries.ts";

/** The tools of a turn, and what the model is told of them. One object as long as nothing changes. */
export interface Loadout {
  tools: ReadonlyMap<string, Registered<"tool">>;
  schemas: readonly ToolSchema[];
}

export class Loadouts {
  /** The names of the tools that are on; without them each tool says itself whether it is. */
  activeNames: readonly string[] | undefined;
  private kept: { loadout: Loadout; version: number; names: readonly string[] | undefined } | undefined;

  current(registries: Registries): Loadout {
    const { kept, activeNames: names } = this;
    const { version } = registries;
    if (kept && kept.version === version && kept.names === names) return kept.loadout;
    const isOn = ([name, { value }]: [string, Registered<"tool">]) =>
      names ? names.includes(name) : value.defaultActive !== false;
    const tools = new Map([...registries.of("tool")].filter(isOn));
    const schemas = Array.from(tools.values(), ({ name, value }) => ({
      name,
      description: value.description,
      parameters: value.parameters as ToolSchema["parameters"],
    }));
    this.kept = { loadout: { tools, schemas }, version, names };
    return this.kept.loadout;
  }
}
