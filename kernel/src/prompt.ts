/** The system prompt: rendered from sections once a run, and what changed of it recorded in the transcript. */
import { type Context, type Owner, type PromptSection, SECTION_SLOTS } from "./contract.ts";
import { type Core, HOST_OWNER } from "./core.ts";
import { toAgentError } from "./errors.ts";
import type { Loadout } from "./loadout.ts";
import type { Entry, Image, Message, SystemMessage, ToolSchema } from "./messages.ts";
import { ABANDONED, type Run } from "./run.ts";
import { estimateText } from "./tokens.ts";

/** As long as an answer may take (K13). */
const SECTION_LIMIT_MS = 30_000;

/** What the branch says the model was told last. */
export interface Recorded {
  sections: Map<string, string>;
  tools: Map<string, string>;
}

/** Renders every section, in the order of the slots. One that fails is reported and left out. */
export async function renderSections(core: Core): Promise<PromptSection[]> {
  const rendered: PromptSection[] = [];
  for (const { name, value, owner } of core.registries.of("section").values()) {
    const text = await renderSection(core, { name, text: value.text, context: core.contextOf(owner), owner });
    if (text) rendered.push({ name, slot: value.slot, owner, text, estimatedTokens: estimateText(text) });
  }
  const place = (section: PromptSection) => SECTION_SLOTS.indexOf(section.slot);
  charge(core, rendered);
  return rendered.sort((a, b) => place(a) - place(b));
}

/** Notes what each extension's sections and active tools add to the prompt (E6). */
function charge(core: Core, sections: readonly PromptSection[]): void {
  const { tools, schemas } = core.loadout();
  for (const account of core.accounts.values()) account.promptTokens = 0;
  const add = (owner: Owner, tokens: number) => {
    const account = core.accounts.get(owner);
    if (account) account.promptTokens += tokens;
  };
  for (const { owner, estimatedTokens } of sections) add(owner, estimatedTokens);
  for (const schema of schemas) add(tools.get(schema.name)!.owner, estimateText(JSON.stringify(schema)));
}

async function renderSection(
  core: Core,
  section: {
    name: string;
    text: string | ((ctx: Context) => string | Promise<string>);
    context: Context;
    owner: PromptSection["owner"];
  },
): Promise<string> {
  const { text, owner } = section;
  if (typeof text === "string") return text.trim();
  try {
    const what = `Its section ${section.name}`;
    const work = core.hooks.deadlines.within(SECTION_LIMIT_MS, { owner, what }, () => text(section.context));
    return (await work).trim();
  } catch (thrown) {
    core.report({ owner, event: `section:${section.name}`, error: toAgentError(thrown, owner.name) });
    return "";
  }
}

/** The prompt as providers get it: each section but the preamble in a tag of its own name. */
function joinSections(sections: readonly PromptSection[]): string {
  return sections
    .map(({ name, slot, text }) => (slot === "preamble" ? text : `<${name}>\n${text}\n</${name}>`))
    .join("\n\n");
}

/** Renders the prompt of a run and records what the branch does not know yet; answers what the handlers add. */
export async function preparePrompt(
  core: Core,
  run: Run,
  { text: prompt, images }: { text: string; images?: Image[] },
): Promise<Message[]> {
  const sections = await run.bounded(renderSections(core));
  // Nothing will be sent any more.
  if (sections === ABANDONED) return [];
  core.systemPrompt = joinSections(sections);
  const event = Object.freeze({
    type: "before_agent_start",
    prompt,
    images,
    get systemPrompt() {
      return core.systemPrompt;
    },
  });
  const added: Message[] = [];
  await core.hooks.collect<"before_agent_start">(core.hooks.at.before_agent_start, event, (answer) => {
    const { message, systemPrompt } = answer;
    if (systemPrompt !== undefined && typeof systemPrompt !== "string") throw new Error("systemPrompt must be a text.");
    if (message) added.push(core.toMessage({ ...message, role: "custom", timestamp: Date.now() }));
    if (systemPrompt !== undefined) core.systemPrompt = systemPrompt;
  });
  core.recorded ??= replay(core.transcript.path());
  const message = patch(core.recorded, sections, core.loadout());
  if (message) core.appendOne({ type: "message", message });
  return added;
}

/** Registers the preamble that the host gave. */
export function registerPreamble(core: Core, text: string): void {
  core.registries.add("section", "preamble", { value: { slot: "preamble", text }, owner: HOST_OWNER, order: 0 });
}

/** Replays what a branch recorded of prompt and tools. */
export function replay(path: readonly Entry[]): Recorded {
  const recorded: Recorded = { sections: new Map(), tools: new Map() };
  for (const entry of path) {
    if (entry.type === "compaction" && entry.systemMessage) apply(recorded, entry.systemMessage);
    else if (entry.type === "message" && entry.message.role === "system") apply(recorded, entry.message);
  }
  return recorded;
}

/** The message that brings a record up to date, or nothing when it is. Updates the record. */
function patch(
  recorded: Recorded,
  sections: readonly PromptSection[],
  { schemas }: Loadout,
): SystemMessage | undefined {
  const texts = new Map(sections.map(({ name, text }) => [name, text]));
  const changed: Record<string, string | null> = {};
  for (const [name, text] of texts) if (recorded.sections.get(name) !== text) changed[name] = text;
  for (const name of recorded.sections.keys()) if (!texts.has(name)) changed[name] = null;
  const tools = new Map(schemas.map((schema) => [schema.name, JSON.stringify(schema)]));
  const toolsAdded = schemas.filter(({ name }) => recorded.tools.get(name) !== tools.get(name));
  const toolsRemoved = [...recorded.tools.keys()].filter((name) => tools.get(name) !== recorded.tools.get(name));
  const hasSections = Object.keys(changed).length > 0;
  if (!hasSections && toolsAdded.length === 0 && toolsRemoved.length === 0) return undefined;
  const message: SystemMessage = { role: "system", content: "", timestamp: Date.now() };
  if (hasSections) message.sections = changed;
  if (toolsAdded.length > 0) message.toolsAdded = toolsAdded.map((schema): ToolSchema => ({ ...schema }));
  if (toolsRemoved.length > 0) message.toolsRemoved = toolsRemoved.map((name) => ({ name }));
  apply(recorded, message);
  return message;
}

function apply(recorded: Recorded, message: SystemMessage): void {
  for (const [name, text] of Object.entries(message.sections ?? {})) {
    if (text === null) recorded.sections.delete(name);
    else recorded.sections.set(name, text);
  }
  for (const { name } of message.toolsRemoved ?? []) recorded.tools.delete(name);
  for (const schema of message.toolsAdded ?? []) recorded.tools.set(schema.name, JSON.stringify(schema));
}
