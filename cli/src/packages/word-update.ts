/** Words what an update would change, and what became of it. */
import { type PackageUpdate, wordPreview } from "@pi-agent/loader";
import { toTerminalName } from "../terminal-text.ts";

/** What would change, a line each, and below it what has to be known about each new version. */
export function wordUpdates(updates: readonly PackageUpdate[]): string[] {
  const changes = updates.filter(({ status }) => status === "update");
  const others = updates.filter(({ status }) => status === "pinned" || status === "failed");
  return [
    ...changes.flatMap(({ preview }) => (preview ? [...wordPreview(preview), ""] : [])),
    ...[...changes, ...others].map((each) => wordUpdate(each, "would")),
  ];
}

/** What became of one package. `would`: it was not done yet. */
export function wordUpdate({ source, from, to, status, reason }: PackageUpdate, when: "did" | "would"): string {
  const name = toTerminalName(source);
  const now = toTerminalName(from ?? "not installed");
  if (status === "update")
    return `${when === "did" ? "Updated" : "Updates"} ${name}: ${now} -> ${toTerminalName(to ?? "unknown")}`;
  if (status === "current") return `Newest ${name}: ${now}`;
  if (status === "pinned") return `Pinned ${name}: ${now} stays, ${toTerminalName(reason ?? "by its source")}`;
  return `Failed ${name}: ${now} stays`;
}
