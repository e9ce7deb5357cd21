/** `/fork` and `/clone`: a session of its own of the way to an entry. The one that it comes from stays as it is. */
import type { CommandContext, Entry } from "@pi-agent/kernel";
import { quote, tellEntry, textToOffer } from "../export/told.ts";
import { oneLine } from "../one-line.ts";
import { choose } from "./choose.ts";
import { findEntry } from "./find-entry.ts";
import { offerAgain } from "./offer.ts";
import { type Place, refuse, refuseToAsk, tell } from "./say.ts";

const SHOWN = 30;
const LINE_CHARS = 80;

const CANCELLED = "Cancelled: the session stays as it is.";

/** Runs `/clone`. */
export async function runClone(_args: string, { ctx }: Place): Promise<void> {
  const { leafId } = ctx.transcript;
  if (leafId === null) return refuseEmpty(ctx);
  const { cancelled } = await ctx.fork(leafId, { position: "at" });
  tell(ctx, cancelled ? CANCELLED : "A copy of this branch, as a session of its own. The other one stays as it is.");
}

/** Runs `/fork`. */
export async function runFork(args: string, { ctx }: Place): Promise<void> {
  const { transcript } = ctx;
  const said = transcript.path().filter((entry) => tellsPerson(entry));
  if (transcript.leafId === null) return refuseEmpty(ctx);
  if (args === "" && !ctx.hasUI) return refuseToAsk(ctx, "/fork asks for one of your messages.", hintFor(said));
  const entry = args === "" ? await chooseSaid(ctx, said) : findEntry(transcript, args);
  if (!entry) return tell(ctx, "Nothing was chosen: the session stays as it is.");
  const isOffered = tellsPerson(entry);
  const { cancelled } = await ctx.fork(entry.id, { position: isOffered ? "before" : "at" });
  if (cancelled) return tell(ctx, CANCELLED);
  const side = isOffered ? "up to before" : "up to";
  tell(ctx, `A session of its own, ${side} ${quote(entry)}. The other one stays as it is: /resume goes back to it.`);
  offerAgain(ctx, entry);
}

function tellsPerson(entry: Entry): boolean {
  return entry.type === "message" && textToOffer(entry) !== undefined;
}

async function chooseSaid(ctx: CommandContext, said: readonly Entry[]): Promise<Entry | undefined> {
  if (said.length === 0) {
    refuse(ctx, {
      what: "There is no message of yours on this branch.",
      hint: "/fork <id> forks at any entry; /tree --all shows them.",
    });
    return undefined;
  }
  const choices = said.map((entry) => ({
    line: oneLine(`${entry.id}  ${tellEntry(entry).text}`).slice(0, LINE_CHARS),
    value: entry,
  }));
  return choose(ctx, { title: "Fork before which of your messages?", choices, shown: SHOWN, others: "before" });
}

function refuseEmpty(ctx: CommandContext): void {
  refuse(ctx, {
    what: "There is nothing to fork: nothing has been said in this session.",
    hint: "Send a message first.",
  });
}

function hintFor(said: readonly Entry[]): string {
  const last = said.at(-1);
  return last ? `/fork ${last.id}, which is your last message; /tree shows the others.` : "/tree shows what there is.";
}
