/** Tells a person what a change of session, place or extensions brought along. What extensions do wrong is told as such. */
import { AgentError, type Draft, type Queue, type Ui } from "@pi-agent/kernel";
import { findLeft, type Holdings } from "./leaks.ts";
import type { Phases } from "./phases.ts";
import { toPrintable } from "./printable.ts";

/** Tells what is wrong with files and the project, and what is held back. */
export function tellChange({ host, report }: Phases): void {
  for (const { message, hint, owner } of report.problems) {
    if (owner === undefined) host.ui.notify(hint === undefined ? message : `${message} ${hint}`, "warning");
  }
  const held = report.heldLine();
  if (held !== undefined) host.ui.notify(held, "info");
}

/** What the model is told of what the person no longer trusts: it may have counted on it. */
export function wordGone(ids: readonly string[]): Draft {
  const list = ids.map((id) => `- ${toPrintable(id)}`).join("\n");
  const content = `The user no longer trusts these parts of the project. They are gone; what they said no longer counts:\n${list}`;
  return { type: "custom_message", customType: "trust", content, display: true };
}

/** Tells how much of what waited for a run was dropped with it. */
export function tellDropped(ui: Ui, { steering, followUp }: Queue): void {
  const number = steering.length + followUp.length;
  if (number === 0) return;
  const what =
    number === 1 ? "One message that waited for the run was" : `${number} messages that waited for the run were`;
  ui.notify(`${what} dropped.`, "warning");
}

/**
 * Tells what unloaded extensions left behind: undos that failed, and what there is more of than `before`. Each is an
 * `extension_error` and a problem of the report.
 */
export async function tellLeaks(phases: Phases, before?: Holdings): Promise<void> {
  const { leaks, unloaded } = phases.roster.takeLeft();
  const { told, agent } = phases;
  for (const { owner, what } of leaks) await told.addUndo(agent, wordUndo(owner, what));
  if (!before || unloaded.length === 0) return;
  for (const left of await findLeft(before)) await told.addLeft(agent, wordLeft(left, unloaded));
}

function wordUndo(owner: string, what: string): AgentError {
  const message = `${toPrintable(owner)} could not clean up after itself: ${what}`;
  return new AgentError("undo_failed", message, { owner, hint: "Mend what it gives to pi.onDispose." });
}

function wordLeft({ name, number }: { name: string; number: number }, unloaded: readonly string[]): AgentError {
  const [owner, ...others] = unloaded;
  const who =
    others.length === 0
      ? `the old version of ${toPrintable(owner!)} may have left it, or the new one began it`
      : `an old version may have left it, or a new one began it; reloaded were ${toPrintable(unloaded.join(", "))}`;
  const message = `After the reload there is more than before (${number} × ${name}): ${who}.`;
  const hint = "End timers, handles and listeners in pi.onDispose.";
  return new AgentError("reload_leak", message, { hint, owner: others.length === 0 ? owner : undefined });
}
