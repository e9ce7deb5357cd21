import type { ExtensionAPI } from "@pi-agent/kernel";
import type { Link } from "./link.ts";
import { STORE_NAME } from "./settings.ts";
import { PostgresStore } from "./store.ts";

/** Offers the database as a place for sessions, to whoever keeps them. */
export function offerStore(pi: ExtensionAPI, link: Link): void {
  const store = new PostgresStore(() => link.hub());
  pi.register("session-store", STORE_NAME, store);
  pi.onDispose(() => store.close());
}
