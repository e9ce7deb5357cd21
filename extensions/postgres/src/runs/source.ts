import type { Database } from "../database.ts";
import type { SpoolStatus } from "../spool-folder.ts";

/** Where the runs are read from. */
export interface RunsSource extends Pick<Database, "query" | "close"> {
  /** The schema's name, not quoted. */
  schema: string;
  /** What is not in the database yet. */
  spoolStatus(): SpoolStatus;
}

/** Opens it, after what waits was written as far as that could be. Fails with a `DatabaseError`. */
export type OpenRuns = () => Promise<RunsSource>;
