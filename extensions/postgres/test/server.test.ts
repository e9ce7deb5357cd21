import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NO_SERVER, startServer, type TestServer } from "./server.ts";

describe.skipIf(NO_SERVER)(`a server of the tests' own${NO_SERVER ? ` (${NO_SERVER})` : ""}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ password: "a b/c@d" });
  });
  afterAll(() => server.stop());

  test("fresh databases are empty and apart from each other", async () => {
    const [a, b] = [await server.freshDatabase(), await server.freshDatabase()].map((url) =>
      new URL(url).pathname.slice(1),
    );
    await server.query("create table only_here (x int)", a);
    expect(await server.query("select tablename from pg_tables where schemaname = 'public'", a)).toHaveLength(1);
    expect(await server.query("select tablename from pg_tables where schemaname = 'public'", b)).toHaveLength(0);
  });

  test.each(["SIGKILL", "SIGQUIT", "SIGINT"] as const)(
    "after %s it starts again on the same port with what was committed",
    async (signal) => {
      await server.query("create table if not exists kept (x text); insert into kept values ('x')");
      const before = await server.query("select * from kept");
      await server.kill(signal);
      await expect(server.query("select 1")).rejects.toThrow();
      await server.restart();
      expect(await server.query("select * from kept")).toEqual(before);
    },
  );

  test("a process that is killed leaves neither its server nor its folder", async () => {
    const script = `
      const { startServer } = await import(${JSON.stringify(fileURLToPath(new URL("server.ts", import.meta.url)))});
      const server = await startServer();
      const [row] = await server.query("show data_directory");
      console.log(JSON.stringify({ port: server.port, folder: row.data_directory }));
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const said = await new Promise<string>((resolve) => child.stdout.once("data", (data) => resolve(String(data))));
    const { folder } = JSON.parse(said) as { folder: string };
    expect(existsSync(folder)).toBe(true);
    child.kill("SIGKILL");
    await expect.poll(() => existsSync(folder), { timeout: 10_000 }).toBe(false);
  });
});
