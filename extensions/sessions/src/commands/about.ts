/** `/name`, `/session` and `/label`: what a session is called, what it holds, and marks in it. */
import type { CommandContext } from "@pi-agent/kernel";
import { countSession } from "../export/statistics.ts";
import { tellEntry } from "../export/told.ts";
import { everyEntry, labelsOf } from "../export/tree.ts";
import { wordExpense, wordHoldings } from "../export/words.ts";
import type { CurrentSession } from "../keeper.ts";
import { oneLine } from "../one-line.ts";
import { findEntry } from "./find-entry.ts";
import { type Place, tell } from "./say.ts";

/** Runs `/name`. */
export async function runName(args: string, { pi, ctx }: Place): Promise<void> {
  if (args !== "") pi.setSessionName(args);
  const name = pi.getSessionName();
  tell(ctx, name ? `This session is called: ${oneLine(name)}` : "This session has no name. /name <text> gives it one.");
}

/** Runs `/session`. */
export async function runSession(_args: string, { keeper, ctx }: Place): Promise<void> {
  tell(ctx, describeSession(keeper.current, ctx));
}

/** Runs `/label`. */
export async function runLabel(args: string, { pi, ctx }: Place): Promise<void> {
  if (args === "") return tell(ctx, listLabels(ctx));
  const [reference = ""] = args.split(/\s+/, 1);
  const label = args.slice(reference.length).trim();
  const entry = findEntry(ctx.transcript, reference);
  pi.setLabel(entry.id, label || undefined);
  const { who, text } = tellEntry(entry);
  tell(ctx, oneLine(label === "" ? `No label any more: ${entry.id}` : `[${label}] ${entry.id}  ${who}: ${text}`));
}

function listLabels({ transcript }: CommandContext): string {
  const lines = [...labelsOf(transcript)].map(([id, { label }]) => {
    const entry = transcript.get(id);
    return oneLine(`${id}  [${label}]${entry ? `  ${tellEntry(entry).who}: ${tellEntry(entry).text}` : ""}`);
  });
  const none =
    "There are no labels. /label <id> <text> sets one; /tree shows the ids, and . is where the conversation is.";
  return lines.length > 0 ? lines.join("\n") : none;
}

function describeSession(current: CurrentSession | undefined, ctx: CommandContext): string {
  const counts = countSession(everyEntry(ctx.transcript));
  const usage = ctx.getContextUsage();
  const context = usage
    ? usage.tokens === null
      ? "not known until the next answer"
      : `${usage.tokens.toLocaleString("en-US")} of ${usage.contextWindow.toLocaleString("en-US")} tokens`
    : undefined;
  const facts: [string, string | undefined][] = [
    ["name", current?.name],
    ["id", current?.id ?? ctx.sessionId],
    ["file", current?.file],
    ["folder", ctx.cwd],
    ["kept", wordKept(current)],
    ["from", current?.header.parentSession],
    ["holds", wordHoldings(counts)],
    ["took", wordExpense(counts)],
    ["context", context],
  ];
  return facts.flatMap(([what, fact]) => (fact ? [`${what.padEnd(8)} ${oneLine(fact)}`] : [])).join("\n");
}

function wordKept(current: CurrentSession | undefined): string {
  if (current?.isReadOnly) return "not here: another process writes to it, and this one only reads";
  if (!current?.file) return "in memory only, or in the store that session.store names";
  if (current.isClaimed) return `by this process, ${process.pid}; nobody else writes to it meanwhile`;
  if (current.firstMessage === undefined) return "nowhere yet: nothing has been said";
  return `by this process, ${process.pid}; others may write to it too: it is not reserved for this one`;
}
