import type { Entry } from "@pi-agent/kernel";
import type { CurrentSession, SessionKeeper } from "./keeper.ts";
import type { SessionInfo } from "./list.ts";
import type { Problem, SessionHeader } from "./record.ts";

/** A session as it was read, for `agent.open`. */
export interface OpenedSession {
  id: string;
  /** Where it was held. */
  cwd: string;
  entries: readonly Entry[];
  header: SessionHeader;
  file: string;
  /** What was wrong with the file; it is mended in `entries`. */
  problems: readonly Problem[];
}

export interface SessionsService {
  readonly current: CurrentSession | undefined;
  /** Lists the sessions of a working directory, or of all, newest first, from the heads and tails of their files. */
  list(cwd?: string): Promise<SessionInfo[]>;
  /**
   * Reads a session file. It becomes the current one when the agent is opened with its id.
   * Fails with `session_unreadable`, `session_invalid`.
   */
  open(path: string): Promise<OpenedSession>;
}

declare module "@pi-agent/kernel" {
  interface Services {
    sessions: SessionsService;
  }
}

/** Makes the service `sessions`. */
export function createService(keeper: SessionKeeper): SessionsService {
  return {
    get current() {
      return keeper.current;
    },
    list: async (cwd) => keeper.list(cwd),
    async open(path) {
      const { header, entries, problems, file } = keeper.open(path);
      return { id: header.id, cwd: header.cwd, entries, header, file: file ?? path, problems };
    },
  };
}
