import type { Entry, ExtensionAPI, HookPoints } from "@pi-agent/kernel";
import type { CurrentSession, SessionKeeper } from "./keeper.ts";
import type { SessionInfo } from "./list.ts";
import type { Problem, SessionHeader } from "./record.ts";
import type { Session } from "./select.ts";

/** A session for `agent.open`. */
export interface OpenedSession {
  id: string;
  /** Where it goes on: where it was held, or where the person is when it comes from another machine. */
  cwd: string;
  entries: readonly Entry[];
  header: SessionHeader;
  /** Left out for a session that is kept in memory only. */
  file?: string;
  /** What was wrong with the file; it is mended in `entries`. */
  problems: readonly Problem[];
}

export interface SessionsService {
  readonly current: CurrentSession | undefined;
  /** Lists the sessions of a working directory, or of all, newest first, from the heads and tails of their files. */
  list(cwd?: string): Promise<SessionInfo[]>;
  /**
   * Reads a session by its file or its id, for the agent to go on with: it becomes the current one when the agent is
   * opened with its id. Where somebody else writes to it, a person is asked whether to copy or only read it.
   * Fails with `session_unreadable`, `session_invalid`, `session_not_found`, `session_in_use`.
   */
  open(reference: string): Promise<OpenedSession>;
  /** Reads a session by its file or its id, to look at it. Fails as `open` does, but for `session_in_use`. */
  read(reference: string): Promise<OpenedSession>;
  /** Deletes a session; answers whether there was one. Fails with `session_in_use`. */
  remove(id: string): Promise<boolean>;
  /**
   * Begins a session: empty, or with entries of another one, which are written at once. It becomes the current one when
   * the agent is opened with its id.
   */
  create(given: { cwd: string; parentSession?: string; entries?: readonly Entry[] }): Promise<OpenedSession>;
  /** Fires one of the hooks of this package, and answers what its handlers made of it: for whoever changes sessions. */
  fire<N extends ChangeHook>(hook: N, event: HookPoints[N]["event"]): Promise<HookPoints[N]["result"] | undefined>;
}

type ChangeHook = "session_before_switch" | "session_before_fork" | "session_before_tree" | "session_tree";

declare module "@pi-agent/kernel" {
  interface Services {
    sessions: SessionsService;
  }
}

/** Makes the service `sessions`. */
export function createService(pi: ExtensionAPI, keeper: SessionKeeper): SessionsService {
  return {
    get current() {
      return keeper.current;
    },
    list: (cwd) => keeper.list(cwd),
    open: async (reference) => toOpened(keeper, await keeper.open(reference)),
    read: async (reference) => toOpened(keeper, await keeper.read(reference)),
    remove: (id) => keeper.remove(id),
    create: async (given) => toOpened(keeper, keeper.create(given)),
    fire: (hook, event) => pi.dispatch(hook, event),
  };
}

function toOpened(keeper: SessionKeeper, session: Session): OpenedSession {
  const { header, entries, problems, file } = session;
  return { id: header.id, cwd: keeper.placeFor(session), entries, header, file, problems };
}
