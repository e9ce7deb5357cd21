/** F161: an address with its password is in nothing that anybody sees, hears or keeps. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Home, openHome, startAgent } from "../agents.ts";
import { create } from "../databases.ts";
import { NO_SERVER, startServer, type TestServer } from "../server.ts";

const WORD = "S3CRET";
const PASSWORD = `${WORD}@x`;
const ENCODED = encodeURIComponent(PASSWORD);

/** Everything in a folder, by file. */
async function readAll(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(await Promise.all(files.map(async (file) => [file, await readFile(file, "latin1")] as const)));
}

/** Runs an agent and opens the database as `pi runs` does; answers what failed and all that was said and kept. */
async function tryAddress(url: string) {
  const place = await create("postgres://unused");
  const home: Home = { agentDir: place.agentDir, url };
  const { agent, notices, requests, dispose } = await startAgent(home);
  expect((await agent.run("go on")).outcome).toBe("done");
  const error = await openHome(home).then(
    (reader) => reader.close(),
    (thrown: unknown) => thrown as Error & { code?: string; hint?: string },
  );
  const isScrubbed = agent.registry("secret").has("DATABASE_URL");
  await dispose();
  const transcript = agent.transcript.path();
  const files = await readAll(place.agentDir);
  await place.dispose();
  const thrown = error && {
    fields: Object.entries(error),
    message: error.message,
    stack: error.stack,
    cause: error.cause,
  };
  const all = JSON.stringify([notices, thrown, transcript, requests.map(({ messages }) => messages), [...files]]);
  return { error, all, isScrubbed };
}

describe("an address that leads nowhere", () => {
  test.each([
    [`postgres://u:${ENCODED}@127.0.0.1:1/db`, "database_unreachable"],
    [`postgresql:/u:${ENCODED}@h/db`, "database_url"],
    [`postgress://u:${ENCODED}@h/db`, "database_url"],
    [`postgres://u:${WORD}#x@127.0.0.1:1/db`, "database_url"],
    [`postgres://u:${WORD}%4@127.0.0.1:1/db`, "database_url"],
    [`postgres://u:${ENCODED}@127.0.0.1:99999/db`, "database_url"],
    [`host=127.0.0.1 user=u password=${WORD} dbname=db`, "database_url"],
    [`u:${ENCODED}@127.0.0.1:1/db`, "database_url"],
    [`postgres://u@127.0.0.1:1/db?password=${ENCODED}`, "database_unreachable"],
    [`postgres://u:${ENCODED}@no-such-host.invalid/db`, "database_unreachable"],
  ])(
    "F161 %s is refused without the password",
    async (url, code) => {
      const { error, all, isScrubbed } = await tryAddress(url);
      expect(error?.code).toBe(code);
      expect(error?.hint).toBeTruthy();
      expect(all).not.toContain(WORD);
      expect(isScrubbed).toBe(true);
    },
    30_000,
  );
});

describe.skipIf(NO_SERVER)(`an address that a server refuses${NO_SERVER ? ` (${NO_SERVER})` : ""}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ password: PASSWORD });
  }, 60_000);
  afterAll(() => server?.stop(), 30_000);

  const at = (change: (url: URL) => void) => {
    const url = new URL(server.url());
    change(url);
    return url.href;
  };

  test("F161 a wrong password, role or database and TLS that is not there are told by name, without the password", async () => {
    const cases: [string, string, RegExp][] = [
      [at((url) => (url.password = `${WORD}-wrong`)), "database_refused", /password authentication failed/],
      [at((url) => (url.username = "nobody_here")), "database_refused", /nobody_here/],
      [at((url) => (url.pathname = "/not_there")), "database_refused", /not_there/],
      [at((url) => url.searchParams.set("sslmode", "require")), "database_tls", /TLS/],
    ];
    for (const [url, code, words] of cases) {
      const { error, all } = await tryAddress(url);
      expect(error?.code).toBe(code);
      expect(error?.message).toMatch(words);
      expect(error?.message).toContain(`127.0.0.1:${server.port}`);
      expect(all).not.toContain(WORD);
    }
  }, 60_000);

  test("F161 the right password is written nowhere, and the database is named by host and name", async () => {
    const { error, all } = await tryAddress(server.url());
    expect(error).toBeUndefined();
    expect(all).not.toContain(WORD);
  }, 30_000);
});
