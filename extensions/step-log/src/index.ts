import type { ExtensionAPI } from "@pi-agent/kernel";
import { assertMode, attachLog } from "./attach.ts";

export type { LoggedEvents, LoggedUsage, Place } from "./lines.ts";

/** Writes one JSON line for each step of a run where `--log` asks for it, and otherwise does nothing. */
export default function stepLog(pi: ExtensionAPI): void {
  pi.registerFlag("log", {
    type: "string",
    description: "Write a JSON line for each step to stderr, stdout (with -p) or a file",
  });
  const target = (): string | undefined => {
    const value = pi.getFlag("log");
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  // In code the flags are there already; at a command line they are settled once packages have registered theirs.
  const early = target();
  if (early) attachLog(pi, early);
  let isAttached = early !== undefined;
  pi.on("session_start", (_event, ctx) => {
    const chosen = target();
    if (!chosen) return;
    assertMode(pi, chosen, ctx.mode);
    if (!isAttached) attachLog(pi, chosen);
    isAttached = true;
  });
}
