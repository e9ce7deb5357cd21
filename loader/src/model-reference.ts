import { AgentError, type Model, type ThinkingLevel } from "@pi-agent/kernel";
import { nearestNames } from "./nearest-names.ts";

export interface Found {
  model: Model;
  thinkingLevel?: ThinkingLevel;
}

export interface Known {
  models: readonly Model[];
  /** All providers, also those without models. */
  providers: readonly string[];
  /** Says whether a provider can be asked. It decides where several have what is wanted. */
  isUsable(provider: string): boolean;
}

const LEVELS: readonly string[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] satisfies ThinkingLevel[];

/**
 * Finds the model that a person means: exact `provider/id` or id (ids may hold slashes and colons), then a part of an
 * id or name, then the same without a `:thinking` suffix. Case does not matter.
 * Fails with `unknown_provider`, `unknown_model`, `ambiguous_model`.
 */
export function findModel(known: Known, reference: string, provider?: string): Found {
  const wanted = reference.trim();
  const among = provider === undefined ? known : within(known, provider);
  const model = match(among, wanted);
  if (model) return { model };
  const colon = wanted.lastIndexOf(":");
  const level = wanted.slice(colon + 1).toLowerCase();
  const plain = colon > 0 && isLevel(level) ? match(among, wanted.slice(0, colon)) : undefined;
  if (plain && isLevel(level)) return { model: plain, thinkingLevel: level };
  throw unknownModel(among, wanted);
}

function match(known: Known, wanted: string): Model | undefined {
  if (wanted === "") return undefined;
  const named = namedProvider(known, wanted);
  const rest = named === undefined ? wanted : wanted.slice(named.length + 1);
  const exact = known.models.filter((model) => isSame(model.id, wanted) || isSame(nameOf(model), wanted));
  if (exact.length > 0) return choose(known, { found: exact, named, wanted });
  const partial = known.models.filter(
    ({ provider, id, name }) =>
      includes(id, wanted) || includes(name, wanted) || (provider === named && includes(id, rest)),
  );
  return choose(known, { found: bestOfEach(partial), named, wanted });
}

/** Takes the longest provider that the reference begins with; a provider's id may hold slashes. */
function namedProvider({ providers }: Known, wanted: string): string | undefined {
  return providers
    .filter((id) => isSame(wanted.slice(0, id.length + 1), `${id}/`))
    .toSorted((a, b) => b.length - a.length)[0];
}

/** Chooses between providers: the named one if it can be asked, else the only one that can, else the named one. */
function choose(known: Known, { found, named, wanted }: { found: Model[]; named?: string; wanted: string }) {
  if (found.length <= 1) return found[0];
  const ofNamed = found.find(({ provider }) => provider === named);
  if (ofNamed && known.isUsable(ofNamed.provider)) return ofNamed;
  const usable = found.filter(({ provider }) => known.isUsable(provider));
  if (usable.length === 1) return usable[0];
  if (ofNamed) return ofNamed;
  const names = found.map(nameOf);
  throw new AgentError("ambiguous_model", `"${wanted}" may be ${names.slice(0, 8).join(" or ")}.`, {
    hint: `Say which, as in: --model ${names[0]}`,
  });
}

/** Keeps one model per provider: a plain id before a dated one, then the highest by its numbers and letters. */
function bestOfEach(models: Model[]): Model[] {
  const best = new Map<string, Model>();
  for (const model of models) {
    const other = best.get(model.provider);
    if (!other || isBetter(model.id, other.id)) best.set(model.provider, model);
  }
  return [...best.values()];
}

function isBetter(id: string, other: string): boolean {
  const isDated = (name: string) => /[-@](?:\d{8}|\d{4}-\d{2}-\d{2})$/.test(name);
  if (isDated(id) !== isDated(other)) return isDated(other);
  return id.localeCompare(other, "en", { numeric: true }) > 0;
}

function within(known: Known, provider: string): Known {
  const id = known.providers.find((each) => isSame(each, provider));
  if (id === undefined) throw unknownProvider(known, provider);
  return { ...known, providers: [id], models: known.models.filter((model) => model.provider === id) };
}

/** Says that nobody knows a provider, and which one may be meant. */
export function unknownProvider({ providers }: Pick<Known, "providers">, wanted: string): AgentError {
  const [nearest] = nearestNames(wanted, providers);
  const known = providers.join(", ") || "none";
  const lead = nearest ? `Did you mean ${nearest}? ` : "";
  return new AgentError("unknown_provider", `There is no provider "${wanted}". Those that are loaded: ${known}.`, {
    hint: `${lead}A package or models.json can add one.`,
  });
}

function unknownModel({ models, providers }: Known, wanted: string): AgentError {
  const named = namedProvider({ models, providers, isUsable: () => false }, wanted);
  const rest = named === undefined ? wanted : wanted.slice(named.length + 1);
  const ids = nearestNames(
    rest,
    models.map(({ id }) => id),
  );
  const near = ids.flatMap((id) => models.filter((model) => model.id === id).map(nameOf)).slice(0, 3);
  const where = providers.length === 1 ? ` of ${providers[0]}` : "";
  const lead = near.length > 0 ? `Did you mean ${near.join(" or ")}? ` : "";
  const message = `There is no model "${wanted}" among the ${models.length} models${where} that are known.`;
  return new AgentError("unknown_model", message, {
    hint: `${lead}pi --list-models shows all; models.json can add one. A suffix is one of: ${LEVELS.join(", ")}.`,
  });
}

function nameOf({ provider, id }: Model): string {
  return `${provider}/${id}`;
}

function isSame(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

function includes(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}

export function isLevel(word: string): word is ThinkingLevel {
  return LEVELS.includes(word);
}
