/** How sessions are found, told apart and deleted. */
import assert from "node:assert/strict";
import { assertSameEntries, keep, type OpenedStore, readSound } from "./play.ts";
import { chain, SAMPLES, said, sampleHeader } from "./samples.ts";

type Cases = Readonly<Record<string, (opened: OpenedStore) => Promise<void>>>;

/** Ids as nobody should choose them. */
const ODD_IDS = [
  `it's "quoted"`,
  "../../etc/passwd",
  "a/b\\c:d",
  "x".repeat(300),
  "'; drop table sessions; --",
  "%_\\%",
  "ünï 😀 코드",
  "CON",
  "a.b_c-1",
  "A.b_c-1",
];

export const FINDING: Cases = {
  "F160 an id with quotes, slashes, 300 characters or SQL is an id like any other": async ({ store, reopen }) => {
    for (const [at, id] of ODD_IDS.entries())
      await keep(store, { header: sampleHeader(id), entries: chain([`a${at}`, `b${at}`]) });
    const again = await reopen();
    assert.deepEqual((await again.list()).map(({ id }) => id).sort(), [...ODD_IDS].sort());
    for (const [at, id] of ODD_IDS.entries()) {
      assertSameEntries((await readSound(again, id)).entries, chain([`a${at}`, `b${at}`]));
      assert.equal(await again.read(`${id}x`), undefined);
    }
    for (const [at, id] of ODD_IDS.entries()) {
      assert.equal(await again.remove(id), true);
      assert.equal(await again.read(id), undefined);
      assert.equal((await again.list()).length, ODD_IDS.length - at - 1);
    }
  },

  "F160 a session that is removed takes its entries along, and its id is free": async ({ store, reopen }) => {
    const header = sampleHeader("s");
    await keep(store, { header, entries: chain(["a", "b", "c"]) });
    await keep(store, { header: sampleHeader("other"), entries: chain(["a"]) });
    assert.equal(await store.remove("s"), true);
    assert.equal(await store.remove("s"), false);
    const again = await reopen();
    assert.equal(await again.read("s"), undefined);
    await keep(again, { header, entries: chain(["b", "z"]) });
    assertSameEntries((await readSound(again, "s")).entries, chain(["b", "z"]));
    assert.equal((await readSound(again, "other")).entries.length, 1);
  },

  "an id that is not there reads as nothing, and nothing is removed": async ({ store }) => {
    assert.equal(await store.read("nobody"), undefined);
    assert.equal(await store.remove("nobody"), false);
    assert.deepEqual(await store.list(), []);
  },

  "a list tells what a person knows a session by": async ({ store, reopen }) => {
    const header = sampleHeader("s", { cwd: "/project/one", parentSession: "/elsewhere/p.jsonl" });
    await keep(store, {
      header,
      entries: [
        SAMPLES.session_info({ id: "n", parentId: null }, "n"),
        said({ id: "a", parentId: "n" }, `  Fix\n the   bug ${"x".repeat(300)}`),
        said({ id: "b", parentId: "a" }, "something else"),
        { ...SAMPLES.session_info({ id: "o", parentId: "b" }, "o"), name: "the last name" } as never,
      ],
    });
    const [info, ...others] = await (await reopen()).list();
    assert.deepEqual(others, []);
    const { id, cwd, name, parentSession, created, firstMessage, modifiedMs } = info!;
    assert.deepEqual(
      { id, cwd, name, parentSession, created, firstMessage },
      {
        id: "s",
        cwd: "/project/one",
        name: "the last name",
        parentSession: "/elsewhere/p.jsonl",
        created: header.timestamp,
        firstMessage: `Fix the bug ${"x".repeat(300)}`.slice(0, 200),
      },
    );
    assert.ok(Math.abs(Date.now() - modifiedMs) < 3_600_000, `It was modified at ${modifiedMs}.`);
  },

  "an empty name takes the one before it away": async ({ store, reopen }) => {
    const named = SAMPLES.session_info({ id: "n", parentId: "a" }, "n");
    const empty = { ...SAMPLES.session_info({ id: "o", parentId: "n" }, "o"), name: "" } as never;
    await keep(store, { header: sampleHeader("s"), entries: [...chain(["a"]), named, empty] });
    const [info] = await (await reopen()).list();
    assert.ok(!info!.name);
  },

  "S6 a list of one working directory has the sessions of that directory, newest first": async ({ store, reopen }) => {
    const folders = ["/a/b-c", "/a-b/c", "/a/b-c", "/a"];
    for (const [at, cwd] of folders.entries())
      await keep(store, { header: sampleHeader(`s${at}`, { cwd }), entries: chain(["a"]) });
    const again = await reopen();
    const idsOf = async (cwd?: string) =>
      (await again.list(cwd === undefined ? undefined : { cwd })).map(({ id }) => id);
    assert.deepEqual((await idsOf("/a/b-c")).sort(), ["s0", "s2"]);
    assert.deepEqual(await idsOf("/a-b/c"), ["s1"]);
    assert.deepEqual(await idsOf("/nowhere"), []);
    const all = await again.list();
    assert.equal(all.length, folders.length);
    const times = all.map(({ modifiedMs }) => modifiedMs);
    assert.deepEqual(
      times,
      [...times].sort((one, other) => other - one),
    );
  },
};
