import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openServer } from "../src/server.ts";
import { NO_SERVER, startServer, type TestServer } from "./server.ts";

const PASSWORD = "S3CRET@x/%";

describe.skipIf(NO_SERVER)("F161 what is wrong with a server is told in three parts, without the password", () => {
  let server: TestServer;
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "pi-agent-failure-"));
    server = await startServer({ password: PASSWORD });
  }, 60_000);
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const cases: [string, (url: URL) => void, { code: string; message: RegExp; hint: RegExp }][] = [
    [
      "a wrong port",
      (url) => (url.port = "1"),
      { code: "database_unreachable", message: /127\.0\.0\.1:1\/postgres.*ECONNREFUSED/, hint: /port/ },
    ],
    [
      "a host that is not there",
      (url) => (url.hostname = "nowhere.invalid"),
      { code: "database_unreachable", message: /nowhere\.invalid/, hint: /host/ },
    ],
    [
      "a wrong password",
      (url) => (url.password = "S3CRET-wrong"),
      { code: "database_refused", message: /password authentication failed/, hint: /password of postgres/ },
    ],
    [
      "no password",
      (url) => (url.password = ""),
      { code: "database_refused", message: /no password/, hint: /password of postgres/ },
    ],
    [
      "a role that is not there",
      (url) => (url.username = "nobody"),
      { code: "database_refused", message: /nobody/, hint: /password of nobody/ },
    ],
    [
      "a database that is not there",
      (url) => (url.pathname = "/missing"),
      { code: "database_refused", message: /"missing" does not exist/, hint: /Create that database/ },
    ],
    [
      "TLS that the server does not speak",
      (url) => (url.search = "?sslmode=require"),
      { code: "database_tls", message: /does not support SSL/, hint: /sslmode=disable/ },
    ],
    [
      "a certificate file that is not there",
      (url) => (url.search = "?sslmode=verify-full&sslrootcert=/nowhere/ca.pem"),
      { code: "database_tls", message: /ca\.pem/, hint: /sslrootcert/ },
    ],
  ];
  for (const [name, spoil, expected] of cases) {
    test(name, async () => {
      const url = new URL(server.url());
      spoil(url);
      const error = await openServer(url.href, { connectTimeoutMs: 5_000 }).then(
        () => expect.unreachable(),
        (thrown: Error & { hint: string; code: string }) => thrown,
      );
      expect(error.code).toBe(expected.code);
      expect(error.message).toMatch(expected.message);
      expect(error.hint).toMatch(expected.hint);
      const all = `${error.message} ${error.hint} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`;
      for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), "S3CRET"]) expect(all).not.toContain(secret);
    });
  }

  test("a server that lets only encrypted connections in", async () => {
    await using strict = await startPretender((socket) => {
      socket.once("data", () =>
        socket.end(errorResponse("28000", 'no pg_hba.conf entry for host "h", user "u", database "d", no encryption')),
      );
    });
    await expect(openServer(`postgres://u:S3CRET@127.0.0.1:${strict.port}/d?sslmode=disable`)).rejects.toMatchObject({
      code: "database_tls",
      hint: expect.stringContaining("sslmode=require"),
    });
  });

  test("a server that never answers is given up after the time for it", async () => {
    await using silent = await startPretender(() => {});
    await expect(
      openServer(`postgres://u:S3CRET@127.0.0.1:${silent.port}/d`, { connectTimeoutMs: 200 }),
    ).rejects.toMatchObject({ code: "database_unreachable" });
  });

  test("an address without a word about TLS goes without, where the server has none", async () => {
    const db = await openServer(server.url());
    expect(await db.query("select 1 as one")).toEqual([{ one: 1 }]);
    await db.close();
  });
});

function errorResponse(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

async function startPretender(answer: (socket: import("node:net").Socket) => void) {
  const sockets = new Set<import("node:net").Socket>();
  const listening = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    answer(socket);
  });
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  const { port } = listening.address() as import("node:net").AddressInfo;
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listening.close(resolve));
    },
  };
}
