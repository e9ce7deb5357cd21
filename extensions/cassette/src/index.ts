import type { ExtensionAPI } from "@pi-agent/kernel";
import { createDeck } from "./deck.ts";
import { maskKeys } from "./mask.ts";
import { type CassetteOptions, FLAGS, OPTIONS, readChoices } from "./options.ts";
import { playNext } from "./play.ts";
import { PROVIDER } from "./provider.ts";
import { createRecorder, type Recorder } from "./record.ts";

export type { CassetteOptions } from "./options.ts";
export type { Turn } from "./take.ts";

/** Records what models answer, and plays it back offline as the model `cassette/scripted`; brings `pi demo`. */
function cassette(pi: ExtensionAPI, options: CassetteOptions = {}): void {
  const choices = readChoices(pi, options);
  const deck = createDeck(choices);
  if (options.turns) deck.insert(options.turns);
  for (const [name, flag] of Object.entries(FLAGS)) pi.registerFlag(name, flag);
  pi.register("api", PROVIDER.api, { stream: (request) => playNext(request, deck) });
  pi.registerProvider(PROVIDER);

  let recorder: Recorder | undefined;
  pi.on("provider_call", (request, next, ctx) => {
    const path = choices.record();
    if (path === undefined) return next(request);
    recorder ??= createRecorder({
      path,
      mask: (text, asked) => maskKeys(pi, text, asked),
      onFailure: ({ message }) => ctx.ui.notify(`Nothing is recorded to ${path}: ${message}.`, "error"),
    });
    return recorder.record(request, next(request));
  });

  pi.register("cli", "demo", {
    summary: "Watch a scripted agent mend a small project, without a key",
    run: async (args, io) => (await import("./demo/demo.ts")).runDemo(args, { io, deck }),
  });
}

export default Object.assign(cassette, { options: OPTIONS });
