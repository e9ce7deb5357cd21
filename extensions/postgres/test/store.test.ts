import { sessionStoreCases } from "@pi-agent/sessions/conformance";
import { afterAll, afterEach, beforeAll, describe, test } from "vitest";
import type { Hub } from "../src/hub.ts";
import { PostgresStore } from "../src/store.ts";
import { embeddedAgentDir } from "./embedded.ts";
import { openHub, tempFolder } from "./hubs.ts";
import { NO_SERVER, sharedServer } from "./server.ts";

const undo: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const each of undo.splice(0).reverse()) await each();
});

function openStore(agentDir: string, url?: string): { store: PostgresStore; hub: Hub } {
  const { hub } = openHub(agentDir, url === undefined ? {} : { url });
  const store = new PostgresStore(() => hub);
  undo.push(async () => {
    await store.close();
    await hub.leave();
  });
  return { store, hub };
}

describe("F160 the embedded database keeps sessions as files do", () => {
  let agentDir = "";
  let hub: Hub;
  let remove = async () => {};
  beforeAll(async () => {
    ({ agentDir, remove } = await embeddedAgentDir());
    ({ hub } = openHub(agentDir));
    await hub.drain();
  }, 120_000);
  afterAll(async () => {
    await hub.leave();
    await remove();
  });

  for (const { name, run } of sessionStoreCases()) {
    test(name, { timeout: 60_000 }, () =>
      run(async () => {
        await hub.drain();
        await hub.client.query("truncate pi_agent.sessions, pi_agent.entries, pi_agent.removed_sessions");
        return { store: openStore(agentDir).store, reopen: async () => openStore(agentDir).store };
      }),
    );
  }
});

describe.skipIf(NO_SERVER)("F160 a server keeps sessions as files do, for agents with directories of their own", () => {
  for (const { name, run } of sessionStoreCases()) {
    test(name, { timeout: 60_000 }, () =>
      run(async () => {
        const url = await (await sharedServer()).freshDatabase();
        const hubs: Hub[] = [];
        const elsewhere = async () => {
          // What another machine sees is what has arrived.
          for (const hub of hubs) await hub.drain();
          const { path, remove } = await tempFolder();
          undo.push(remove);
          const { store, hub } = openStore(path, url);
          hubs.push(hub);
          return store;
        };
        return { store: await elsewhere(), reopen: elsewhere };
      }),
    );
  }
});
