import type { ExtensionAPI } from "@pi-agent/kernel";
import { sessionError } from "./problems.ts";
import type { SessionStore } from "./store.ts";

/** The store that lists, reads and leases where nobody names another one. */
export const FILES = "files";
/** The store of sessions that are kept nowhere else. */
export const MEMORY = "memory";

export type Stores = ReadonlyMap<string, { readonly value: SessionStore }>;

/** A store with the name that it goes by. */
export interface NamedStore {
  name: string;
  store: SessionStore;
}

/** The stores that are registered, as they are at any time: one that loads late is among them from then on. */
export function storesOf(pi: ExtensionAPI): Stores {
  return pi.registry("session-store");
}

/** The name that the setting `session.store` gives. */
export function homeNameOf(pi: Pick<ExtensionAPI, "service">): string {
  const name = pi.service("settings")?.get("session.store");
  return typeof name === "string" && name !== "" ? name : FILES;
}

/** Finds the store that lists, reads and leases. Fails with `unknown_session_store`. */
export function findHome(stores: Stores, name: string): NamedStore {
  const store = stores.get(name)?.value;
  if (store) return { name, store };
  throw sessionError(
    "unknown_session_store",
    `The setting session.store names ${JSON.stringify(name)}, and nothing that is loaded keeps sessions under that name.`,
    `Name one of those there are: ${[...stores.keys()].sort().join(", ")}; or load the package that brings it.`,
  );
}
