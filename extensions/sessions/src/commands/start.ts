/** What `--fork` and `--resume` begin with. */
import type { Context } from "@pi-agent/kernel";
import { sessionError } from "../problems.ts";
import { assertUsable, type Flags, newSession, type Session, textOf } from "../select.ts";
import { chooseSession } from "./resume.ts";
import { hasFolder, type Keeper, readNamed, referenceOf } from "./shelf.ts";

const NOT_WITH_FORK = ["session", "continue", "resume", "no-session"];
const NOT_WITH_RESUME = ["session", "session-id", "continue", "no-session"];

/**
 * Finds the session that `--fork` copies or that a person chooses for `--resume`; `undefined` where neither is asked for.
 * Fails with `flag_conflict`, `flag_value`, `session_not_found`, `session_ambiguous`, `session_cwd_missing`,
 * `needs_person`, and as reading does.
 */
export async function selectAsked(keeper: Keeper, flags: Flags, ctx: Context): Promise<Session | undefined> {
  const reference = textOf(flags, "fork");
  if (reference !== undefined) return forkNamed(keeper, { reference, flags, cwd: ctx.cwd });
  return flags.get("resume") === true ? chooseForStart(keeper, flags, ctx) : undefined;
}

/** A copy with all branches, held here. The session that it comes from is only read. */
async function forkNamed(
  keeper: Keeper,
  { reference, flags, cwd }: { reference: string; flags: Flags; cwd: string },
): Promise<Session> {
  refuseBoth("fork", NOT_WITH_FORK, flags);
  const id = textOf(flags, "session-id");
  if (id !== undefined) await assertFree(keeper, id, flags);
  const { header, entries, file } = await readNamed(keeper, reference, cwd);
  const folder = keeper.folderFor(cwd);
  const fork = newSession({ cwd, id, folder, parentSession: file ?? header.id });
  return { ...fork, entries, isUnsaved: entries.length > 0 };
}

async function chooseForStart(keeper: Keeper, flags: Flags, ctx: Context): Promise<Session> {
  refuseBoth("resume", NOT_WITH_RESUME, flags);
  if (!ctx.hasUI) {
    throw sessionError(
      "needs_person",
      `--resume asks which session to go on with, and in mode ${ctx.mode} nobody can be asked.`,
      "Name it with --session <id or file>, or go on with the newest one: --continue.",
    );
  }
  const { cwd } = ctx;
  const chosen = await chooseSession(keeper, { ctx, cwd });
  if (chosen !== undefined && chosen !== "none") return inItsFolder(await keeper.open(referenceOf(chosen)));
  ctx.ui.notify(
    chosen === "none" ? "There is no session yet: this begins one." : "Nothing was chosen: this begins a new session.",
  );
  return newSession({ cwd, folder: keeper.folderFor(cwd) });
}

function inItsFolder(session: Session): Session {
  if (hasFolder(session)) return session;
  const { id, cwd } = session.header;
  throw sessionError(
    "session_cwd_missing",
    `The session ${id} was held in ${cwd}, which is no folder any more.`,
    `Make the folder again, or go on with a copy here: --fork ${session.file ?? id}`,
  );
}

async function assertFree(keeper: Keeper, id: string, flags: Flags): Promise<void> {
  assertUsable(id, flags);
  if (!(await keeper.list()).some((info) => info.id === id)) return;
  throw sessionError("flag_value", `--session-id ${id} is taken: there is such a session.`, "Give another id.");
}

function refuseBoth(name: string, others: readonly string[], flags: Flags): void {
  const other = others.find((each) => flags.get(each));
  if (other === undefined) return;
  throw sessionError("flag_conflict", `--${name} and --${other} both say which session.`, "Give one of them.");
}
