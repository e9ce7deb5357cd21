import type { ExtensionAPI } from "@pi-agent/kernel";
import { createLink } from "./link.ts";
import { offerStore } from "./offer-store.ts";
import { openReader } from "./reader.ts";
import { recordRuns } from "./record-runs.ts";
import { readSettings, SETTINGS_SCHEMA, secretNames } from "./settings.ts";

/** Keeps runs, their steps and sessions in PostgreSQL: one that it brings along, or a server. */
export default function postgres(pi: ExtensionAPI): void {
  pi.register("settings", "postgres", SETTINGS_SCHEMA);
  const settings = readSettings(pi);
  for (const name of secretNames(settings)) pi.register("secret", name, true);
  if (!settings.isEnabled) return;
  pi.register("cli", "runs", {
    summary: "what agents did: list, show, replay, resume, stats",
    run: async (args, io) => {
      const { createRunsCommand } = await import("./runs/command.ts");
      return createRunsCommand(() => openReader(pi)).run(args, io);
    },
  });
  const link = createLink(pi);
  offerStore(pi, link);
  recordRuns(pi, link);
}
