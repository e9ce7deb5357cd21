/** `/resume`: goes on with another session, chosen from a list or named. */
import type { CommandContext } from "@pi-agent/kernel";
import type { SessionInfo } from "../list.ts";
import { isPath } from "../location.ts";
import { findFirstMessage } from "../said.ts";
import { choose } from "./choose.ts";
import { type Place, refuse, refuseToAsk, tell } from "./say.ts";
import { sessionLine, titleOf } from "./session-rows.ts";
import { copyInto, findSessions, hasFolder, type Keeper, readNamed, referenceOf } from "./shelf.ts";

const SHOWN = 20;
const ALL_FOLDERS = "sessions of other folders";
const STAYS = "Nothing was chosen: this session goes on.";

/** Runs `/resume`. */
export async function runResume(args: string, place: Place): Promise<void> {
  const { ctx, keeper } = place;
  if (args === "" && !ctx.hasUI) {
    return refuseToAsk(ctx, "/resume asks for a session.", "/resume <id>, or begin with --session <id> or --continue.");
  }
  const isFile = args !== "" && isPath(args);
  const chosen = isFile ? referenceOf(await infoOf(keeper, args, ctx)) : await chooseOther(keeper, args, ctx);
  if (chosen !== undefined) await goTo(place, chosen);
}

/** Lets a person choose among the sessions of a folder, or of all; answers the one. */
export async function chooseSession(
  keeper: Keeper,
  { ctx, cwd, except }: { ctx: Pick<CommandContext, "ui">; cwd: string; except?: string },
): Promise<SessionInfo | "none" | undefined> {
  const all = (await keeper.list()).filter(({ id }) => id !== except);
  if (all.length === 0) return "none";
  const here = all.filter((info) => info.cwd === cwd);
  const others = here.length < all.length;
  const found = here.length === 0 ? "others" : await chooseFrom(ctx, here, others);
  if (found !== "others") return found;
  return choose(ctx, {
    title: "Go on with which session?",
    choices: all.map((info) => ({ line: sessionLine(info, { folder: true }), value: info })),
    shown: SHOWN,
    others: "after",
  });
}

function chooseFrom(
  ctx: Pick<CommandContext, "ui">,
  here: readonly SessionInfo[],
  others: boolean,
): Promise<SessionInfo | "others" | undefined> {
  const choices: { line: string; value: SessionInfo | "others" }[] = here.map((info) => ({
    line: sessionLine(info),
    value: info,
  }));
  if (others) choices.splice(SHOWN - 1, 0, { line: ALL_FOLDERS, value: "others" });
  return choose(ctx, { title: "Go on with which session of this folder?", choices, shown: SHOWN, others: "after" });
}

async function infoOf(keeper: Keeper, path: string, ctx: CommandContext): Promise<{ id: string; path?: string }> {
  const { header, file } = await readNamed(keeper, path, ctx.cwd);
  return { id: header.id, path: file };
}

async function chooseOther(keeper: Keeper, args: string, ctx: CommandContext): Promise<string | undefined> {
  const except = keeper.current?.id;
  const chosen =
    args === "" ? await chooseSession(keeper, { ctx, cwd: ctx.cwd, except }) : await named(keeper, args, ctx);
  if (chosen === "none") {
    tell(ctx, "There is no other session yet.");
    return undefined;
  }
  if (!chosen) {
    if (args === "" || ctx.hasUI) tell(ctx, STAYS);
    return undefined;
  }
  if (chosen.id !== except) return referenceOf(chosen);
  tell(ctx, "That is this session.");
  return undefined;
}

async function named(keeper: Keeper, reference: string, ctx: CommandContext): Promise<SessionInfo | undefined> {
  const all = await findSessions(keeper, reference, ctx.cwd);
  const others = all.filter(({ id }) => id !== keeper.current?.id);
  const found = others.length > 0 ? others : all;
  if (found.length === 1) return found[0];
  if (found.length === 0) {
    refuse(ctx, {
      what: `There is no session ${JSON.stringify(reference)}.`,
      hint: ctx.hasUI ? "/resume alone lists them." : "pi sessions list --all shows all of them.",
    });
    return undefined;
  }
  if (!ctx.hasUI) {
    const ids = found.map(({ id }) => id).join(", ");
    refuse(ctx, {
      what: `Several sessions are meant by ${JSON.stringify(reference)}: ${ids}.`,
      hint: "Give the whole id.",
    });
    return undefined;
  }
  const choices = found.map((info) => ({ line: sessionLine(info, { folder: true }), value: info }));
  return choose(ctx, { title: "Several sessions are meant:", choices, shown: SHOWN, others: "after" });
}

/** Goes on with a session where it was held; where that folder is gone, a person may go on with a copy here. */
export async function goTo({ keeper, ctx }: Place, reference: string): Promise<void> {
  const target = await placed(keeper, ctx, reference);
  if (target === undefined) return;
  const { cancelled } = await ctx.switchSession(target);
  if (cancelled) return tell(ctx, "Cancelled: this session goes on.");
  const { name, isReadOnly } = keeper.current ?? {};
  const held = isReadOnly ? " It is only read: nothing that is said here is kept." : "";
  tell(ctx, `Going on with: ${titleOf({ name, firstMessage: findFirstMessage(ctx.transcript.path()) })}${held}`);
}

async function placed(keeper: Keeper, ctx: CommandContext, reference: string): Promise<string | undefined> {
  const session = await keeper.read(reference);
  if (hasFolder(session)) return reference;
  const what = `The session ${session.header.id} was held in ${session.header.cwd}, which is no folder any more.`;
  const copy = `Go on with a copy of it here, in ${ctx.cwd}`;
  if (!ctx.hasUI) {
    refuseToAsk(ctx, what, `Make the folder again, or begin with --fork ${reference}: that goes on here.`);
    return undefined;
  }
  if ((await ctx.ui.select(what, [copy, "Cancel"])) === copy) return copyInto(keeper, session, ctx.cwd);
  tell(ctx, STAYS);
  return undefined;
}
