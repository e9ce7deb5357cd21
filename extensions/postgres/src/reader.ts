import type { ExtensionAPI } from "@pi-agent/kernel";
import type { Database } from "./database.ts";
import { joinHub, type Tell } from "./hub.ts";
import { type PostgresSettings, readSettings, spoolOf } from "./settings.ts";
import { type SpoolStatus, spoolStatus } from "./spool-folder.ts";

/** A database to look into: of our version, with what waited on this machine written to it. */
export interface Reader extends Database {
  /** The name of the schema, not quoted. */
  schema: string;
  /** How much waits on this machine all the same: written since, or meant for another database. */
  spoolStatus(): SpoolStatus;
}

/** Opens the database for reading, whoever has it; close it afterwards. Fails with a `DatabaseError`. */
export async function openReader(
  pi: ExtensionAPI,
  { settings = readSettings(pi), tell = () => {} }: { settings?: PostgresSettings; tell?: Tell } = {},
): Promise<Reader> {
  const hub = joinHub(settings, pi, tell);
  try {
    await hub.drain();
  } catch (error) {
    await hub.leave();
    throw error;
  }
  const { client } = hub;
  return {
    schema: settings.schema,
    spoolStatus: () => spoolStatus(spoolOf(settings.agentDir)),
    query: (text, values) => client.query(text, values),
    transaction: (fn) => client.transaction(fn),
    close: () => hub.leave(),
  };
}
