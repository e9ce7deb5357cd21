import type { ExtensionAPI } from "@pi-agent/kernel";
import { registerCommands, selectAtStart } from "./commands/register.ts";
import { FLAGS } from "./flags.ts";
import { declareHooks } from "./hooks.ts";
import { SessionKeeper } from "./keeper.ts";
import { createService } from "./service.ts";
import { FILES, MEMORY } from "./stores.ts";

export type { TreePreparation } from "./hooks.ts";
export type { CurrentSession } from "./keeper.ts";
export type { SessionInfo } from "./list.ts";
export type { Problem, SessionHeader } from "./record.ts";
export type { OpenedSession, SessionsService } from "./service.ts";
export type { Claim, Holder, SessionSink, SessionStore, StoredSession } from "./store.ts";

/** Keeps sessions: selects one at the start, hands what is appended to every store, and provides the service `sessions`. */
export default function sessions(pi: ExtensionAPI): void {
  const keeper = new SessionKeeper(pi);
  for (const [name, flag] of Object.entries(FLAGS)) pi.registerFlag(name, flag);
  declareHooks(pi);
  registerCommands(pi, keeper);
  pi.register("session-store", FILES, keeper.files);
  pi.register("session-store", MEMORY, keeper.memory);
  pi.register("service", "sessions", createService(pi, keeper));

  pi.on("session_select", ({ flags }, ctx) => selectAtStart(keeper, flags, ctx));
  pi.on("session_start", ({ reason }, ctx) => {
    keeper.follow(ctx);
    const name = pi.getFlag("name");
    if (reason === "startup" && typeof name === "string" && name.trim() !== "") pi.setSessionName(name);
  });
  pi.on("agent_start", (_event, ctx) => keeper.stay(ctx));
  pi.on("transcript_append", ({ entry }, ctx) => keeper.append(entry, ctx));
  pi.on("transcript_flush", () => keeper.flush());
  // A call is on disk before its tool changes anything: after a crash the session tells that it was under way.
  pi.on("tool_execution_start", () => keeper.flush());
  pi.onDispose(() => keeper.dispose());
}
