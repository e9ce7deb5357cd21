import type { Command, CompactOptions, Entry, ExtensionAPI, Services } from "@pi-agent/kernel";
import type { Automatic } from "./automatic.ts";
import type { Loaded } from "./settings.ts";
import { isJustCompacted } from "./view.ts";
import { textOfError } from "./words.ts";

/** Makes the service `compaction`. */
export function createService(loaded: Loaded, automatic: Automatic): Services["compaction"] {
  const { pi } = loaded;
  return {
    async compact(asked: CompactOptions = {}): Promise<Entry> {
      const { compact } = await import("./compactor.ts");
      const { customInstructions, signal } = asked;
      const { model } = pi.context;
      const done = await compact(loaded, { reason: "manual", willRetry: false, model, customInstructions, signal });
      if (typeof done === "string") throw nothingToCompact(pi);
      automatic.recover();
      return done;
    },
    async summarize(entries, asked) {
      const { summarizeBranch } = await import("./branch-summary.ts");
      return summarizeBranch(loaded, entries, asked);
    },
  };
}

/** Makes `/compact`: a run that is going on is aborted first, and not gone on with. */
export function createCommand(service: Services["compaction"]): Command {
  return {
    description: "summarise the conversation so far; what stands behind it is paid particular attention to",
    async handler(focus, ctx) {
      if (!ctx.isIdle()) ctx.abort();
      await ctx.waitForIdle();
      try {
        await service.compact({ customInstructions: focus || undefined });
      } catch (thrown) {
        const { code, message, hint } = thrown as Error & { code?: string; hint?: string };
        ctx.ui.notify(textOfError({ message, hint }), code === "nothing_to_compact" ? "info" : "error");
      }
    },
  };
}

function nothingToCompact(pi: ExtensionAPI): Error {
  const why = isJustCompacted(pi.context.transcript.path()) ? "It has just been compacted." : "It is too short.";
  return pi.error("nothing_to_compact", `There is nothing in this conversation to compact. ${why}`, {
    hint: "Go on; it is compacted by itself when the context window fills up.",
  });
}
