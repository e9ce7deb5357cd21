/**
 * What becomes of a text that somebody typed.
 *
 *   /command with a handler ──► runs, and that is all
 *   else ── input hooks ──► handled, or a text ── /command that expands ──► the message
 */

import { createCommandContext } from "./context.ts";
import type { Agent, Registered } from "./contract.ts";
import type { Core } from "./core.ts";
import { toAgentError } from "./errors.ts";
import { runAs } from "./frames.ts";
import type { Image, UserContent, UserMessage } from "./messages.ts";
import { blocksProblem } from "./shapes.ts";

/** As long as an answer may take (K13). */
const EXPANSION_LIMIT_MS = 30_000;

export type InputOptions = NonNullable<Parameters<Agent["input"]>[1]>;

export interface Prompt {
  text: string;
  images?: Image[];
  message: UserMessage;
}

/** Runs the command in a text, if it names one that has a handler. Its failure is reported, not thrown. */
export async function runCommand(core: Core, text: string, settled: () => Promise<void>): Promise<boolean> {
  const { command, args } = commandIn(core, text);
  if (!command?.value.handler) return false;
  const { owner, name, value } = command;
  try {
    await runAs(owner, () => value.handler!(args, createCommandContext(core, core.contextOf(owner), settled)));
  } catch (thrown) {
    core.report({ owner, event: `command:${name}`, error: toAgentError(thrown, owner.name) });
  }
  return true;
}

/** Makes the message of a prompt; nothing when a hook handled it. */
export async function toPrompt(core: Core, text: string, options: InputOptions): Promise<Prompt | undefined> {
  const input = await transformed(core, text, options);
  if (!input) return undefined;
  const { command, args } = commandIn(core, input.text);
  const final = command?.value.expand ? await expand(core, command, args) : input.text;
  const content: UserContent = input.images?.length ? [{ type: "text", text: final }, ...input.images] : final;
  const message = core.toMessage({ role: "user", content, timestamp: Date.now() }) as UserMessage;
  return { text: final, images: input.images, message };
}

function expand(core: Core, { owner, name, value }: Registered<"command">, args: string): Promise<string> {
  const what = `Its command /${name}`;
  return core.hooks.deadlines.within(EXPANSION_LIMIT_MS, { owner, what }, () => value.expand!(args));
}

async function transformed(core: Core, given: string, options: InputOptions) {
  let { images } = options;
  let text = given;
  let isHandled = false;
  const event = Object.freeze({
    type: "input",
    source: options.source ?? "interactive",
    whileRunning: options.whileRunning,
    // As the handlers before left them.
    get text() {
      return text;
    },
    get images() {
      return images;
    },
  });
  await core.hooks.collect<"input">(core.hooks.at.input, event, (answer) => {
    if (answer.action === "transform") {
      const { text: changed, images: replaced = images } = answer;
      if (typeof changed !== "string") throw new Error("input may only transform to a text.");
      if (replaced && blocksProblem(replaced, ["image"])) throw new Error("input may only transform to images.");
      text = changed;
      images = replaced;
    }
    isHandled = answer.action === "handled";
    return isHandled;
  });
  return isHandled ? undefined : { text, images };
}

function commandIn(core: Core, text: string): { command?: Registered<"command">; args: string } {
  const match = /^\/(\S+)\s*([\s\S]*)$/.exec(text);
  return { command: match ? core.registries.of("command").get(match[1]!) : undefined, args: match?.[2]?.trim() ?? "" };
}
