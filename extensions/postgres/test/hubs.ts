/** Hubs without an agent: what a host would give them is stood in for by a few lines. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExtensionAPI } from "@pi-agent/kernel";
import { type Hub, joinHub } from "../src/hub.ts";
import { type PostgresSettings, readSettings } from "../src/settings.ts";

/** What a hub, or the settings, need of the host. */
export function fakeHost(
  agentDir: string,
  given: { url?: string; env?: Record<string, string>; settings?: Record<string, unknown> } = {},
): ExtensionAPI {
  const env = { ...given.env, ...(given.url !== undefined && { DATABASE_URL: given.url }) };
  const services: Record<string, unknown> = {
    environment: { agentDir, env },
    settings: { get: (key: string) => given.settings?.[key] },
  };
  return { service: (name: string) => services[name] } as unknown as ExtensionAPI;
}

export function settingsFor(agentDir: string, given: Parameters<typeof fakeHost>[1] = {}): PostgresSettings {
  return readSettings(fakeHost(agentDir, given));
}

export interface ToldHub {
  hub: Hub;
  told: string[];
}

export function openHub(agentDir: string, given: Parameters<typeof fakeHost>[1] = {}): ToldHub {
  const told: string[] = [];
  const host = fakeHost(agentDir, given);
  const hub = joinHub(readSettings(host), host, (message, level) => void told.push(`${level}: ${message}`));
  return { hub, told };
}

export async function tempFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "pi-agent-spool-"));
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}
