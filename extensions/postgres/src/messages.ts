/** What the two threads say to each other. */
import type { DatabaseErrorCode } from "./database.ts";
import type { DrainedPlace } from "./drain.ts";
import type { SpoolFolder } from "./spool-folder.ts";

/** Where the database is. */
export type Target = { kind: "server"; url: string } | { kind: "embedded"; dir: string };

export interface WorkerSettings {
  target: Target;
  /** Names the target in the names of spool folders. */
  targetId: string;
  schema: string;
  /** The folder of all spools. */
  spool: string;
}

export type Ask =
  | { do: "query"; text: string; values: readonly (string | null)[]; tx?: number }
  | { do: "begin" }
  | { do: "end"; tx: number; isGood: boolean }
  /** Drains all that waits, whoever wrote it. */
  | { do: "drain" }
  | { do: "close" };

/** `own`: the spool folder that this process writes to. */
export type ToWorker = (Ask & { id: number; own: string | undefined }) | { do: "poke"; own: string | undefined };

export interface PlainError {
  code: DatabaseErrorCode;
  message: string;
  hint: string;
  sqlState?: string;
}

export type FromWorker =
  | { id: number; result: unknown }
  | { id: number; error: PlainError }
  | ({ event: "drained" } & DrainedPlace)
  | { event: "claimed"; folder: SpoolFolder }
  | { event: "refused"; file: string; reason: string }
  /** What goes wrong while it drains by itself; without an error it goes well again. */
  | { event: "trouble"; error: PlainError | undefined }
  /** Nothing was to do for a while, and nothing is open any more. */
  | { event: "idle" };
