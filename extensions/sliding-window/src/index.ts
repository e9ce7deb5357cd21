import type { Context, ExtensionAPI } from "@pi-agent/kernel";
import { OPTIONS, readWindow, SETTINGS, type WindowOptions } from "./settings.ts";
import { Teller } from "./teller.ts";
import { cutToWindow, type Window } from "./window.ts";

export type { WindowOptions } from "./settings.ts";

/** Where nobody names a size, messages get so much of what the model reads; the rest is for prompt, tools and answer. */
const SHARE = 0.75;

/** Sends the model the last part of the conversation only. The session keeps everything. */
function slidingWindow(pi: ExtensionAPI, options: WindowOptions = {}): void {
  const teller = new Teller();
  let told: string | undefined;
  pi.register("settings", "slidingWindow", SETTINGS);

  /** Nothing where the settings cannot be used, which is told once. */
  const inForce = (): WindowOptions | undefined => {
    const read = readWindow(pi, options);
    if (read.problem === undefined || read.problem === told) return "window" in read ? read.window : undefined;
    told = read.problem;
    throw pi.error("invalid_options", `The setting slidingWindow cannot be used: ${told}. Everything is sent.`, {
      hint: "Set slidingWindow.messages or slidingWindow.tokens to a whole number from 1, and leave the other out.",
    });
  };
  pi.on("session_start", () => void inForce());
  pi.on("context", (event, ctx) => {
    const window = inForce();
    const view = window && cutToWindow(event.messages, toWindow(window, ctx));
    teller.tell(ctx.ui, view?.dropped ?? 0);
    return view && { messages: view.messages };
  });
}

function toWindow({ messages, tokens, keepFirst = false }: WindowOptions, ctx: Context): Window {
  if (messages !== undefined) return { size: messages, keepFirst, weigh: () => 1 };
  const size = tokens ?? Math.floor(SHARE * (ctx.model?.contextWindow || Number.POSITIVE_INFINITY));
  return { size, keepFirst, weigh: (message) => ctx.estimateTokens([message]) };
}

export default Object.assign(slidingWindow, { options: OPTIONS });
