import type { ExtensionAPI } from "@pi-agent/kernel";
import { Automatic } from "./automatic.ts";
import { createCommand, createService } from "./by-hand.ts";
import { declareHooks } from "./hooks.ts";
import { BRANCH_SETTINGS, COMPACTION_SETTINGS, type CompactionOptions, OPTIONS } from "./settings.ts";

export type { CompactionPreparation, CompactionResult, Reason } from "./hooks.ts";
export type { CompactionOptions, ModelLimits } from "./settings.ts";

/** Summarises what lies far back when the context window fills up, a request was too long, or a person wants it. */
function compaction(pi: ExtensionAPI, options: CompactionOptions = {}): void {
  declareHooks(pi);
  pi.register("settings", "compaction", COMPACTION_SETTINGS);
  pi.register("settings", "branchSummary", BRANCH_SETTINGS);

  const gone = new AbortController();
  pi.onDispose(() => gone.abort());
  const loaded = { pi, options, gone: gone.signal };
  const automatic = new Automatic(loaded);
  const service = createService(loaded, automatic);
  pi.register("service", "compaction", service);
  pi.registerCommand("compact", createCommand(service));

  pi.on("before_turn", (event, ctx) => automatic.beforeTurn(event, ctx));
  pi.on("provider_error", (event, ctx) => automatic.onProviderError(event, ctx));
  pi.on("turn_end", (event, ctx) => automatic.onTurnEnd(event, ctx));
}

export default Object.assign(compaction, { options: OPTIONS });
