/** Which model answers: the one asked for, the one the session stood at, or the first that has a key. */
import type { Core } from "./core.ts";
import { AgentError } from "./errors.ts";
import type { Entry, Model, ThinkingLevel } from "./messages.ts";
import { replay } from "./prompt.ts";

interface Choice {
  provider?: string;
  modelId?: string;
  thinkingLevel?: ThinkingLevel;
}

/** The model and the thinking level that a branch stands at. */
function lastChoice(path: readonly Entry[]): Choice {
  const choice: Choice = {};
  for (let i = path.length - 1; i >= 0 && !(choice.provider && choice.thinkingLevel); i--) {
    const entry = path[i]!;
    if (entry.type === "thinking_level_change") choice.thinkingLevel ??= entry.thinkingLevel;
    if (choice.provider) continue;
    if (entry.type === "model_change") Object.assign(choice, { provider: entry.provider, modelId: entry.modelId });
    else if (entry.type === "message" && entry.message.role === "assistant") {
      Object.assign(choice, { provider: entry.message.provider, modelId: entry.message.model });
    }
  }
  return choice;
}

/** Records the model and the thinking level where the branch stands at others. */
export function recordChoice(core: Core, model: Model): void {
  const before = lastChoice(core.transcript.path());
  if (before.provider !== model.provider || before.modelId !== model.id) {
    core.appendOne({ type: "model_change", provider: model.provider, modelId: model.id });
  }
  if (before.thinkingLevel !== core.thinkingLevel) {
    core.appendOne({ type: "thinking_level_change", thinkingLevel: core.thinkingLevel });
  }
}

/** Takes model, thinking level and tool names from the branch, as far as they are to be had here. */
export function restoreChoice(core: Core): void {
  core.recorded = undefined;
  const path = core.transcript.path();
  const { provider, modelId, thinkingLevel } = lastChoice(path);
  const model = provider && modelId ? findModel(core, `${provider}/${modelId}`) : undefined;
  const wanted = core.options.model;
  if (!wanted) core.model = model ?? core.model;
  // What cannot be had is told when a run needs it.
  else core.model ??= typeof wanted === "string" ? findModel(core, wanted) : wanted;
  if (thinkingLevel && !core.options.thinkingLevel) core.thinkingLevel = thinkingLevel;
  const { tools } = replay(path);
  if (tools.size === 0 || core.options.activeTools) return;
  // An official tool that the branch does not know was off; anybody else's may have been installed since.
  const newcomers = [...core.loadout().tools.values()].filter(
    ({ name, owner }) => !tools.has(name) && owner.scope !== "official",
  );
  // Also those that are not here yet: who brings them may still be loading.
  core.setActiveTools([...tools.keys(), ...newcomers.map(({ name }) => name)]);
}

/** Makes sure of a model and a key for it. Fails with `no_model`, `unknown_model`, `no_key`. */
export async function requireModel(core: Core): Promise<Model> {
  const wanted = core.options.model;
  core.model ??= typeof wanted === "string" ? modelNamed(core, wanted) : (wanted ?? (await initialModel(core)));
  await core.host.credentials.resolve(core.model.provider, core.model);
  return core.model;
}

function modelNamed(core: Core, reference: string): Model {
  if (core.host.models) return core.host.models.resolve(reference).model;
  const model = findModel(core, reference);
  if (model) return model;
  const known = catalogue(core).map(({ provider, id }) => `${provider}/${id}`);
  throw new AgentError("unknown_model", `There is no model ${reference}.`, {
    hint: `Known are: ${known.join(", ") || "none; load a provider package"}.`,
  });
}

function findModel(core: Core, reference: string): Model | undefined {
  const models = core.host.models?.list() ?? catalogue(core);
  return models.find(({ provider, id }) => reference === `${provider}/${id}` || reference === id);
}

function catalogue(core: Core): Model[] {
  return [...core.registries.of("provider").values()].flatMap(({ value }) => value.models);
}

/** What the host begins with, or the first model that has a key; one that needs none is taken last. */
async function initialModel(core: Core): Promise<Model> {
  const chosen = core.host.models?.initial()?.model;
  if (chosen) return chosen;
  const providers = [...core.registries.of("provider").values()];
  providers.sort((a, b) => Number(a.value.env.length === 0) - Number(b.value.env.length === 0));
  let failure: unknown;
  for (const { value } of core.host.models ? [] : providers) {
    const model = value.models[0];
    if (!model) continue;
    try {
      await core.host.credentials.resolve(value.id);
      return model;
    } catch (thrown) {
      failure ??= thrown;
    }
  }
  throw (
    failure ??
    new AgentError("no_model", "No model is chosen and no provider is loaded.", {
      hint: 'Load a provider package, such as @pi-agent/anthropic, and name a model: createAgent({ model: "provider/id" }).',
    })
  );
}
