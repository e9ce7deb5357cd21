import { join } from "node:path";
import { expect, test } from "vitest";
import { readSettings, secretNames, toWorkerSettings } from "../src/settings.ts";
import { ANY_TARGET } from "../src/spool-folder.ts";
import { fakeHost, settingsFor } from "./hubs.ts";

const SERVER = "postgres://u:S3CRET@h/db";

test("D3 without an address the database is in the agent directory", async () => {
  const host = fakeHost("/agent");
  const { target, spool } = await toWorkerSettings(readSettings(host), host);
  expect(target).toEqual({ kind: "embedded", dir: join("/agent", "postgres") });
  expect(spool).toBe(join("/agent", "spool"));
});

test("D3 DATABASE_URL names a server, as it is; the setting postgres.url goes before it, with what it refers to", async () => {
  const urlOf = async (given: Parameters<typeof fakeHost>[1]) => {
    const host = fakeHost("/agent", given);
    const { target } = await toWorkerSettings(readSettings(host), host);
    return target.kind === "server" ? target.url : target.kind;
  };
  expect(await urlOf({ url: "postgres://u:$HOME@h/db" })).toBe("postgres://u:$HOME@h/db");
  const settings = { "postgres.url": "postgres://u:${WORD}$$@$HOST/db" };
  expect(await urlOf({ url: SERVER, settings, env: { WORD: "w", HOST: "there" } })).toBe("postgres://u:w$@there/db");
  expect(await urlOf({ url: SERVER, settings: { "postgres.url": "embedded" } })).toBe("embedded");
});

test("an address from a command is had when the database is opened, and not before", async () => {
  const asked: string[][] = [];
  const host = fakeHost("/agent", { settings: { "postgres.url": "!pass show db" } });
  const exec = async (command: string, args: string[]) => {
    asked.push([command, ...args]);
    return { stdout: `${SERVER}\n`, stderr: "", code: 0, killed: false, truncated: false };
  };
  const settings = readSettings(host);
  expect(asked).toEqual([]);
  const { target } = await toWorkerSettings(settings, Object.assign(host, { exec }));
  expect(target).toEqual({ kind: "server", url: SERVER });
  expect(asked).toEqual([["/bin/sh", "-c", "pass show db"]]);
});

test("F161 an address that cannot be had says why, and shows nothing of it", async () => {
  const host = fakeHost("/agent", { settings: { "postgres.url": "postgres://u:S3CRET@$NOWHERE/db" } });
  const failing = toWorkerSettings(readSettings(host), host);
  await expect(failing).rejects.toMatchObject({
    code: "database_url",
    message: expect.stringContaining("$NOWHERE is not set"),
  });
  await expect(failing).rejects.not.toMatchObject({ message: expect.stringContaining("S3CRET") });
});

test("what waits is kept apart by place and schema, and not by password", () => {
  const idOf = (given: Parameters<typeof fakeHost>[1]) => settingsFor("/agent", given).targetId;
  const id = idOf({ url: SERVER });
  expect(idOf({ url: "postgres://other:word@h/db" })).toBe(id);
  const others = [
    idOf({}),
    idOf({ url: "postgres://u@h/other" }),
    idOf({ url: SERVER, settings: { "postgres.schema": "s" } }),
  ];
  expect(new Set([id, ...others]).size).toBe(4);
  expect(idOf({ url: "postgress://u:p@h/db" })).toBe(ANY_TARGET);
  for (const each of [id, ...others]) expect(each).toMatch(/^[0-9a-f]{12}$/);
});

test("F161 the variables that hold the address are named as secrets", () => {
  expect(secretNames(settingsFor("/agent"))).toEqual(["DATABASE_URL"]);
  const settings = { "postgres.url": "postgres://u:$WORD@${HOST}/db" };
  expect(secretNames(settingsFor("/agent", { settings }))).toEqual(["DATABASE_URL", "WORD", "HOST"]);
});
