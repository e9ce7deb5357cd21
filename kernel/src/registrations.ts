/**
 * What may be registered, kind by kind. What does not fit is refused where it is registered, in its owner's name, so that
 * it cannot fail later in somebody else's (E2).
 */
import { type Kind, type Owner, type Registry, SECTION_SLOTS } from "./contract.ts";
import { AgentError } from "./errors.ts";
import type { Way } from "./hook-points.ts";
import { isModel } from "./shapes.ts";
import { isRecord } from "./values.ts";

interface Rule {
  fits: (value: unknown) => boolean;
  /** What fits, in words. */
  what: string;
}
type Fields = Readonly<Record<string, Rule>>;

const oneOf = (...values: readonly string[]): Rule => ({
  fits: (value) => values.includes(value as string),
  what: `one of ${values.join(", ")}`,
});
const either = (one: Rule, other: Rule): Rule => ({
  fits: (value) => one.fits(value) || other.fits(value),
  what: `${one.what} or ${other.what}`,
});
const listOf = ({ fits }: Rule, what: string): Rule => ({
  fits: (value) => Array.isArray(value) && value.every(fits),
  what,
});
const optional = ({ fits, what }: Rule): Rule => ({
  fits: (value) => value === undefined || fits(value),
  what: `${what}, or left out`,
});

const TEXT: Rule = { fits: (value) => typeof value === "string", what: "a text" };
const NAME: Rule = { fits: (value) => typeof value === "string" && value.trim() !== "", what: "a text, not empty" };
const BOOLEAN: Rule = { fits: (value) => typeof value === "boolean", what: "true or false" };
const FUNCTION: Rule = { fits: (value) => typeof value === "function", what: "a function" };
const OBJECT: Rule = { fits: isRecord, what: "an object" };
const SCHEMA: Rule = { fits: (value) => isRecord(value) && isJson(value), what: "a JSON Schema object" };
const TEXTS = listOf(TEXT, "a list of texts");
const MODEL: Rule = { fits: isModel, what: "a model with id, provider and api" };
const EFFECT = oneOf("read", "write", "execute");
const WAYS: Record<Way, true> = { notify: true, chain: true, gate: true, first: true, vote: true, around: true };

/** Providers map names to the alphabet that each takes; none takes a blank. */
const TOOL_NAME = /^\S{1,128}$/;

/** What the kernel's own kinds must be: a value, or the members of an object. Other kinds are their packages' to check. */
const SHAPES: { readonly [K in Kind]?: Rule | Fields } = {
  tool: {
    description: TEXT,
    parameters: SCHEMA,
    execute: FUNCTION,
    effect: optional(either(EFFECT, FUNCTION)),
    touches: optional(FUNCTION),
    prepareArguments: optional(FUNCTION),
    promptSnippet: optional(TEXT),
    promptGuidelines: optional(TEXTS),
  },
  command: { description: optional(TEXT), handler: optional(FUNCTION), expand: optional(FUNCTION) },
  flag: {
    type: oneOf("boolean", "string"),
    description: optional(TEXT),
    short: optional(TEXT),
    choices: optional(TEXTS),
    default: optional(either(either(BOOLEAN, TEXT), TEXTS)),
  },
  shortcut: { description: optional(TEXT), handler: FUNCTION },
  cli: { summary: TEXT, run: FUNCTION },
  api: { stream: FUNCTION },
  provider: {
    id: NAME,
    name: optional(TEXT),
    api: NAME,
    models: listOf(MODEL, "a list of models, each with id, provider and api"),
    env: optional(TEXTS),
    baseUrl: optional(TEXT),
  },
  model: MODEL,
  section: { slot: oneOf(...SECTION_SLOTS), text: either(TEXT, FUNCTION) },
  mode: { run: FUNCTION, ui: FUNCTION },
  "message-renderer": FUNCTION,
  "entry-renderer": FUNCTION,
  "tool-renderer": FUNCTION,
  theme: OBJECT,
  projector: FUNCTION,
  "resource-kind": { places: TEXTS, grade: oneOf("text", "settings", "executable") },
  settings: SCHEMA,
};
const HOOK: Fields = { way: oneOf(...Object.keys(WAYS)), onFault: optional(oneOf("refuse", "continue")) };

/** Who registers what, under which name. */
interface Registration<K extends Kind> {
  owner: Owner;
  kind: K;
  name: unknown;
  value: Registry[K];
}

/** Answers what is registered, with what it may leave out. Fails with `invalid_name`, `invalid_tool`, `invalid_registration`. */
export function checkRegistration<K extends Kind>({ owner, kind, name, value }: Registration<K>): Registry[K] {
  assertName(owner, kind, name);
  const shape = Object.hasOwn(SHAPES, kind) ? SHAPES[kind] : undefined;
  const isMisnamed = kind === "tool" && !TOOL_NAME.test(name);
  const problem = isMisnamed
    ? "its name must have 1 to 128 characters and no blanks"
    : shape && problemOf(value, shape);
  if (problem !== undefined) throw refusal(owner, `${kind} ${name}`, problem);
  return kind === "provider" ? (withVariables(value as Registry["provider"]) as Registry[K]) : value;
}

/** Fails with `invalid_registration`. */
export function checkHandler(owner: Owner, hook: unknown, handler: unknown): void {
  if (!NAME.fits(hook)) throw refusal(owner, "handler", "the name of its hook must be a text");
  checkFunction(owner, `handler for ${String(hook)}`, handler);
}

/** Fails with `invalid_registration`. */
export function checkFunction(owner: Owner, what: string, value: unknown): void {
  if (!FUNCTION.fits(value)) throw refusal(owner, what, "it must be a function");
}

/** Fails with `invalid_name`, `invalid_registration`. */
export function checkHook(owner: Owner, name: unknown, options: unknown): void {
  assertName(owner, "hook", name);
  const problem = problemOf(options, HOOK);
  if (problem !== undefined) throw refusal(owner, `hook ${name}`, problem);
}

function problemOf(value: unknown, shape: Rule | Fields): string | undefined {
  if (isRule(shape)) return shape.fits(value) ? undefined : `it must be ${shape.what}`;
  if (!isRecord(value)) return "it must be an object";
  const unfit = Object.entries(shape).find(([name, { fits }]) => !fits(value[name]));
  return unfit && `its \`${unfit[0]}\` must be ${unfit[1].what}`;
}

function isRule(shape: Rule | Fields): shape is Rule {
  return typeof shape.fits === "function";
}

/** A provider that names no variables needs no key. */
function withVariables(provider: Registry["provider"]): Registry["provider"] {
  return (provider as { env?: string[] }).env ? provider : { ...provider, env: [] };
}

function assertName(owner: Owner, what: string, name: unknown): asserts name is string {
  if (NAME.fits(name)) return;
  throw new AgentError("invalid_name", `A ${what} was registered under ${JSON.stringify(name)}, which is not a name.`, {
    hint: `Give the ${what} a name that is a non-empty string.`,
    owner: owner.name,
  });
}

function refusal(owner: Owner, what: string, problem: string): AgentError {
  const message = `The ${what} of ${owner.name} cannot be registered: ${problem}.`;
  const more = { hint: "Give it what its type in @pi-agent/kernel asks for.", owner: owner.name };
  return what.startsWith("tool ")
    ? new AgentError("invalid_tool", message, more)
    : new AgentError("invalid_registration", message, more);
}

function isJson(value: object): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}
