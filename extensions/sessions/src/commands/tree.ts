/**
 * `/tree`: shows the tree of the session, and goes to another place in it.
 *
 *   entry, named or chosen ──► a summary of what is left? ──► there; what the person said there is offered again
 */
import type { CommandContext, Entry, ExtensionAPI } from "@pi-agent/kernel";
import { quote, textToOffer } from "../export/told.ts";
import { placeIn } from "../export/tree.ts";
import { choose } from "./choose.ts";
import { findEntry } from "./find-entry.ts";
import { offerAgain } from "./offer.ts";
import { type Place, refuse, tell } from "./say.ts";
import { type Row, treeRows } from "./tree-rows.ts";
import { splitWords, unknownOption } from "./words.ts";

const SHOWN = 60;
const OPTIONS = ["all", "summarize"];
const TITLE =
  "Where does the conversation go on? A number, or an id; Enter stays. Files stay as they are, whatever you choose.";
const NO_SUMMARY = "No summary";
const SUMMARY = "Summarise the branch that is left";
const FOCUS = "Summarise it with a focus of your own";

/** Runs `/tree`. */
export async function runTree(args: string, { pi, ctx }: Place): Promise<void> {
  const words = splitWords(args, { valued: ["summarize"] });
  const unknown = unknownOption(words, OPTIONS);
  if (unknown !== undefined) {
    return refuse(ctx, {
      what: `/tree has no option --${unknown}.`,
      hint: "/tree [id or label] [--all] [--summarize [focus]]",
    });
  }
  const { transcript } = ctx;
  const rows = treeRows(transcript, { isAll: words.options.has("all") });
  if (rows.length === 0) return tell(ctx, "Nothing has been said in this session yet.");
  const isNamed = words.text !== "";
  if (!isNamed && !ctx.hasUI) return tell(ctx, listTree(rows));
  const id = isNamed ? findEntry(transcript, words.text).id : await chooseRow(ctx, rows);
  if (id === undefined) return tell(ctx, "The conversation stays where it is.");
  const entry = transcript.get(id)!;
  if (id === placeIn(transcript)?.id && textToOffer(entry) === undefined) {
    return tell(ctx, "The conversation stands there already.");
  }
  const summary = await chooseSummary(pi, { ctx, entry, focus: words.options.get("summarize"), isNamed });
  if (summary === undefined) return tell(ctx, "The conversation stays where it is.");
  await go(ctx, entry, summary);
}

interface SummaryChoice {
  summarize: boolean;
  customInstructions?: string;
}

async function go(ctx: CommandContext, entry: Entry, summary: SummaryChoice): Promise<void> {
  if (summary.summarize) tell(ctx, "Summarising the branch that is left; Ctrl-C stops it.");
  const { cancelled } = await ctx.navigateTree(entry.id, summary);
  if (cancelled) return tell(ctx, "Cancelled: the conversation stays where it was.");
  const side = textToOffer(entry) === undefined ? "after" : "before";
  tell(ctx, `The conversation goes on ${side} ${quote(entry)}. Files stay as they are: they are no part of the tree.`);
  offerAgain(ctx, entry);
}

/** `undefined`: the person wants to stay. */
async function chooseSummary(
  pi: ExtensionAPI,
  { ctx, entry, focus, isNamed }: { ctx: CommandContext; entry: Entry; focus?: string; isNamed: boolean },
): Promise<SummaryChoice | undefined> {
  const isLeaving = leavesMessages(ctx, entry);
  if (focus !== undefined) {
    if (!isLeaving) tell(ctx, "Nothing that was said is left behind: there is nothing to summarise.");
    return { summarize: isLeaving, customInstructions: focus || undefined };
  }
  const isQuiet = pi.service("settings")?.get("branchSummary.skipPrompt") === true;
  if (isNamed || isQuiet || !ctx.hasUI || !isLeaving || !pi.service("compaction")) return { summarize: false };
  const answer = await ctx.ui.select("Keep a summary of the branch that is left?", [NO_SUMMARY, SUMMARY, FOCUS]);
  if (answer === undefined) return undefined;
  if (answer !== FOCUS) return { summarize: answer === SUMMARY };
  const customInstructions = await ctx.ui.input("What is it to look at");
  return customInstructions === undefined ? undefined : { summarize: true, customInstructions };
}

/** Tells whether something that was said is not on the way to the new place. */
function leavesMessages({ transcript }: CommandContext, entry: Entry): boolean {
  // What a person said is said anew, so before it.
  const to = textToOffer(entry) === undefined ? entry.id : entry.parentId;
  const kept = new Set(to === null ? [] : transcript.path(to).map(({ id }) => id));
  return transcript.path().some(({ id, type }) => type === "message" && !kept.has(id));
}

async function chooseRow(ctx: CommandContext, rows: readonly Row[]): Promise<string | undefined> {
  const choices = rows.map(({ id, line }) => ({ line, value: id }));
  return choose(ctx, { title: TITLE, choices, shown: SHOWN, others: "before" });
}

function listTree(rows: readonly Row[]): string {
  const lines = rows.map(({ line }) => line).join("\n");
  return `${lines}\n/tree <id> goes to an entry. Files stay as they are: the workspace is not part of the tree.`;
}
