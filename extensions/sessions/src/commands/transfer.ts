/** `/export` and `/import`: sessions to files and back. */
import { resolve } from "node:path";
import type { CommandContext } from "@pi-agent/kernel";
import { environmentOf, expandHome } from "../environment.ts";
import { exportSession } from "../export/export-session.ts";
import type { Page } from "../export/html.ts";
import { readImport } from "../export/import-session.ts";
import { nameOf, treeOf } from "../export/tree.ts";
import type { Session } from "../select.ts";
import { goTo } from "./resume.ts";
import { type Place, refuse, tell } from "./say.ts";
import { type Keeper, takeIn } from "./shelf.ts";

/** Runs `/export`. */
export async function runExport(args: string, { pi, keeper, ctx }: Place): Promise<void> {
  if (ctx.transcript.size === 0) {
    return refuse(ctx, { what: "There is nothing to export: nothing has been said.", hint: "Send a message first." });
  }
  const { env } = environmentOf(pi);
  const where = { to: args || undefined, folder: ctx.cwd, sources: [keeper.current?.file], env };
  const path = await exportSession(currentPage(keeper, ctx), where);
  tell(ctx, `Written: ${path}`);
}

/** Runs `/import`. */
export async function runImport(args: string, place: Place): Promise<void> {
  const { pi, keeper, ctx } = place;
  if (args === "") return refuse(ctx, { what: "/import takes the path of a session file.", hint: "/import <file>" });
  const session = readImport(resolve(ctx.cwd, expandHome(args, environmentOf(pi).env)));
  const reference = await takeIn(keeper, session, ctx.cwd);
  tell(ctx, `Imported: ${reference}`);
  await goTo(place, reference);
}

/** What a page shows of a session that was read. */
export function pageOf({ header, entries }: Pick<Session, "header" | "entries">): Page {
  const tree = treeOf(entries);
  const { id, cwd, timestamp: created } = header;
  return { tree, id, cwd, created, name: nameOf(tree) };
}

function currentPage(keeper: Keeper, ctx: CommandContext): Page {
  const { current } = keeper;
  const { transcript: tree, cwd, sessionId } = ctx;
  const { id = sessionId, header, name } = current ?? {};
  return { tree, id, cwd, created: header?.timestamp ?? "", name, systemPrompt: ctx.getSystemPrompt() };
}
