/** What is done about a session that somebody else writes to. */
import type { Context } from "@pi-agent/kernel";
import { oneLine } from "./one-line.ts";
import { sessionError } from "./problems.ts";
import type { Holder } from "./store.ts";

/** A session as a person knows it: by its file, where it has one. */
export interface Wanted {
  id: string;
  file?: string;
}

const FORK = "Go on with a copy of it";
const READ = "Only read it: nothing that is said here is kept";
const CANCEL = "Cancel";

/** Asks a person whether to fork or only read; fails with `session_in_use` where nobody is there to ask, or on a no. */
export async function settleInUse(
  { wanted, holder }: { wanted: Wanted; holder: Holder },
  ctx: Pick<Context, "hasUI" | "ui"> | undefined,
): Promise<"fork" | "read"> {
  const answer = ctx?.hasUI ? await ctx.ui.select(describe(wanted, holder), [FORK, READ, CANCEL]) : undefined;
  if (answer === FORK) return "fork";
  if (answer === READ) return "read";
  throw inUse(wanted, holder);
}

/** Says who writes to a session, and how to go on all the same. */
export function inUse(wanted: Wanted, holder: Holder): Error {
  const copy = `--fork ${wanted.file ?? wanted.id}`;
  return sessionError(
    "session_in_use",
    describe(wanted, holder),
    `Go on with a copy of it: ${copy}. Or end that process first; a process that is gone holds nothing.`,
  );
}

function describe({ id }: Wanted, { pid, host, since }: Holder): string {
  return oneLine(`The session ${id} is in use: process ${pid} on ${host} writes to it since ${since}.`);
}
