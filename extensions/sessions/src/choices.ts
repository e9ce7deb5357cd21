import type { ExtensionAPI } from "@pi-agent/kernel";
import { environmentOf } from "./environment.ts";
import { choosePlace, type Flags, type SelectOptions } from "./select.ts";
import type { SessionStore } from "./store.ts";
import { findHome, homeNameOf, MEMORY, type NamedStore, type Stores } from "./stores.ts";

/** What flags and settings say, at any time, about how sessions are kept. */
export class Choices {
  flags: Flags;
  private readonly pi: ExtensionAPI;
  private readonly stores: Stores;

  constructor(pi: ExtensionAPI, stores: Stores) {
    this.pi = pi;
    this.stores = stores;
    this.flags = { get: (name) => pi.getFlag(name) };
  }

  /** The session is kept in memory only. */
  get isPrivate(): boolean {
    return this.flags.get("no-session") === true;
  }

  get durability(): "flush" | "fsync" {
    return this.setting("session.durability") === "fsync" ? "fsync" : "flush";
  }

  /** The store that lists, reads and leases. Fails with `unknown_session_store`. */
  home(): NamedStore {
    return findHome(this.stores, homeNameOf(this.pi));
  }

  /** The same, where there is one. */
  homeOrNone(): SessionStore | undefined {
    return this.stores.get(homeNameOf(this.pi))?.value;
  }

  /** Whether a store receives what is appended. */
  receives(name: string): boolean {
    if (name !== MEMORY) return !this.isPrivate;
    return this.isPrivate || homeNameOf(this.pi) === MEMORY;
  }

  /** Where the files of a working directory go; `undefined` where none are kept. */
  folderFor(cwd: string): string | undefined {
    return this.isPrivate ? undefined : choosePlace(this.optionsFor(cwd)).folder;
  }

  optionsFor(cwd: string): SelectOptions {
    const dir = this.setting("sessionDir");
    const configuredDir = typeof dir === "string" ? dir : undefined;
    return { flags: this.flags, cwd, configuredDir, environment: environmentOf(this.pi) };
  }

  private setting(name: string): unknown {
    return this.pi.service("settings")?.get(name);
  }
}
