/** Chooses the model, its thinking level and its key by flags, session and settings. */
import { type Agent, AgentError, type FlagValue, type Model, type ThinkingLevel } from "@pi-agent/kernel";
import { type AgentDefinition, type Loaded, nearestNames, resolveOwnModel } from "@pi-agent/loader";
import { printWarning } from "./print-error.ts";
import type { Problem } from "./problem.ts";

interface Found {
  model: Model;
  thinkingLevel?: ThinkingLevel;
}

/**
 * Sets the model that `--model` and `--provider` name; else the one of the agent's file; else keeps the session's; else
 * takes the settings' default or the first one with a key. Fails with `unknown_model`, `ambiguous_model`,
 * `unknown_provider`, with `no_key`, and with `no_model` when nothing is asked for and there is no key at all.
 */
export async function chooseModel(
  flags: ReadonlyMap<string, FlagValue>,
  { agent, host }: Loaded,
  asked: Pick<AgentDefinition, "file" | "model" | "thinking"> = { file: "" },
): Promise<void> {
  const isTyped = flags.has("model") || flags.has("provider");
  const found =
    isTyped || asked.model === undefined
      ? findModel(flags, host, agent.state.model)
      : resolveOwnModel(host.models, asked);
  if (!found) throw describeNoModel(agent);
  const isChosen = isTyped || asked.model !== undefined || agent.state.model !== undefined;
  const mistaken = isChosen ? undefined : judgeDefault(host, found.model);
  if (mistaken) printWarning(mistaken);
  const apiKey = flags.get("api-key");
  if (typeof apiKey === "string") host.credentials.useApiKey(found.model.provider, apiKey);
  if (!(await agent.setModel(found.model))) await host.credentials.resolve(found.model.provider);
  const level = flags.get("thinking") ?? (isTyped ? undefined : asked.thinking) ?? found.thinkingLevel;
  if (level !== undefined) agent.setThinkingLevel(level as ThinkingLevel);
}

function findModel(
  flags: ReadonlyMap<string, FlagValue>,
  { models }: Loaded["host"],
  current: Model | undefined,
): Found | undefined {
  const reference = flags.get("model");
  const provider = flags.get("provider");
  const named = typeof provider === "string" ? provider : undefined;
  if (typeof reference === "string") return models.resolve(reference, named);
  if (named === undefined && current) return { model: current };
  return models.initial(named);
}

/** Says why the settings' default is not the model that is taken, if it is not. */
export function judgeDefault(
  { models, settings }: Pick<Loaded["host"], "models" | "settings">,
  taken: Model,
): Problem | undefined {
  const provider = settings.get("defaultProvider");
  const id = settings.get("defaultModel");
  if (typeof id !== "string" || id === "" || (taken.id === id && taken.provider === provider)) return undefined;
  const name = typeof provider === "string" ? `${provider}/${id}` : id;
  const taking = `taking ${taken.provider}/${taken.id}`;
  const all = models.list();
  if (typeof provider === "string" && all.some((model) => model.provider === provider && model.id === id)) {
    return {
      what: `The default model ${name} is left out: ${taking}`,
      why: `${provider} has no key`,
      hint: "pi doctor tells which keys were found",
    };
  }
  const [nearest] = nearestNames(
    name,
    all.map((model) => `${model.provider}/${model.id}`),
    1,
  );
  return {
    what: `The default model ${name} is not known: ${taking}`,
    why:
      typeof provider === "string"
        ? "no provider has it under this name"
        : "the settings name no defaultProvider beside it",
    hint:
      nearest === undefined
        ? "pi --list-models shows all"
        : `did you mean ${nearest}? Mend defaultProvider and defaultModel in settings.json`,
  };
}

function describeNoModel(agent: Agent): AgentError {
  const variables = [...agent.registry("provider").values()].flatMap(({ value }) => value.env);
  const problem: Problem = {
    what: "There is no key for any model",
    why: `looked for ${variables.join(", ")}, and in auth.json and models.json of the agent directory`,
    hint: "set one of them, or give --model with --api-key; without a key, run: pi demo",
  };
  return new AgentError("no_model", problem.what, { hint: problem.hint, cause: problem });
}
