/** What is carried over: into new versions, and from a session to what loads after it was opened. */
import type { Agent, FlagValue, Model } from "@pi-agent/kernel";

// Who said which tools are on means those, whatever is installed meanwhile.
const CHOSEN = ["tools", "exclude-tools", "no-tools"];

/** Loads something, and switches the tools on that came with it, where the person did not choose the tools. */
export async function loadWithTools(
  { agent, flags }: { agent: Agent; flags: ReadonlyMap<string, FlagValue> },
  load: () => Promise<void>,
): Promise<void> {
  const before = new Set(agent.registry("tool").keys());
  await load();
  if (CHOSEN.some((name) => flags.has(name) && flags.get(name) !== false)) return;
  const active = agent.state.activeTools;
  const newcomers = [...agent.registry("tool").values()].filter(
    ({ name, value }) => value.defaultActive !== false && !before.has(name) && !active.includes(name),
  );
  if (newcomers.length > 0) agent.setActiveTools([...active, ...newcomers.map(({ name }) => name)]);
}

/** Takes the model as the files and providers describe it now. One that is gone stays until another one is chosen. */
export async function takeModelAnew(agent: Agent, models: { list(): readonly Model[] }): Promise<void> {
  const { model } = agent.state;
  const again = model && models.list().find(({ provider, id }) => provider === model.provider && id === model.id);
  if (again && JSON.stringify(again) !== JSON.stringify(model)) await agent.setModel(again);
}
