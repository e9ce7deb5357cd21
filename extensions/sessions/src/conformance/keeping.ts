/** What is kept, and that it comes back as it was. */
import assert from "node:assert/strict";
import type { Entry } from "@pi-agent/kernel";
import { assertSameEntries, keep, type OpenedStore, readSound } from "./play.ts";
import { answered, chain, entryOf, resulted, SAMPLES, said, sampleHeader } from "./samples.ts";

type Cases = Readonly<Record<string, (opened: OpenedStore) => Promise<void>>>;

export const KEEPING: Cases = {
  "a session is there from the first user or assistant message on, with all that came before": async ({ store }) => {
    const header = sampleHeader("s");
    const before = SAMPLES.model_change({ id: "m", parentId: null }, "m");
    const sink = store.open({ header, entries: [] });
    sink.append(before);
    await sink.flush();
    assert.equal(await store.read("s"), undefined);
    assert.deepEqual(await store.list(), []);
    const first = said({ id: "a", parentId: "m" });
    sink.append(first);
    await sink.flush();
    assertSameEntries((await readSound(store, "s")).entries, [before, first]);
    assert.equal((await store.list()).length, 1);
    await sink.close();
  },

  "a session that nothing was said in is not kept": async ({ store, reopen }) => {
    await keep(store, {
      header: sampleHeader("s"),
      entries: [SAMPLES.session_info({ id: "n", parentId: null }, "n")],
    });
    assert.equal(await (await reopen()).read("s"), undefined);
  },

  "F160 every entry type comes back to the letter, and so do types and fields that nobody knows": async ({
    store,
    reopen,
  }) => {
    const entries = everyKind();
    await keep(store, { header: sampleHeader("s"), entries });
    assertSameEntries((await readSound(await reopen(), "s")).entries, entries);
  },

  "D4 what databases choke on comes back equal": async ({ store, reopen }) => {
    const data = {
      nul: "a\0b",
      surrogate: "\uD800 alone",
      separators: "\u2028\u2029\r\n\uFEFF",
      sql: "'; drop table entries; --",
      big: 2 ** 64,
      small: 5e-324,
      names: { 'a"b': 1, "": 2, $1: 3 },
      empty: [[], {}, ""],
    };
    const entries = [
      said({ id: "a", parentId: null }),
      entryOf("custom", { id: "b", parentId: "a" }, { customType: "odd", data }),
      said({ id: "c", parentId: "b" }, "😀 x".repeat(500_000)),
    ];
    await keep(store, { header: sampleHeader("s"), entries });
    assertSameEntries((await readSound(await reopen(), "s")).entries, entries);
  },

  "the header comes back with what other programs put in it": async ({ store, reopen }) => {
    const header = sampleHeader("s", { parentSession: "/elsewhere/p.jsonl", tool: { version: [1, "ü"] } });
    await keep(store, { header, entries: chain(["a"]) });
    const { header: found } = await readSound(await reopen(), "s");
    assert.equal(JSON.stringify(found), JSON.stringify(header));
  },

  "F160 timestamps are kept as text, and the order is that of appending whatever they say": async ({
    store,
    reopen,
  }) => {
    const times = ["2030-01-01T00:00:00.000Z", "2020-01-01T00:00:00.000Z", "2020-01-01T00:00:00.000Z", "1999-12-31"];
    const entries = times.map((timestamp, at) =>
      said({ id: `e${9 - at}`, parentId: at === 0 ? null : `e${10 - at}`, timestamp }),
    );
    await keep(store, { header: sampleHeader("s"), entries });
    assertSameEntries((await readSound(await reopen(), "s")).entries, entries);
  },

  "what was flushed is read, also while it goes on": async ({ store }) => {
    const entries = chain(["a", "b", "c", "d"]);
    const sink = store.open({ header: sampleHeader("s"), entries: [] });
    for (const [at, entry] of entries.entries()) {
      sink.append(entry);
      await sink.flush();
      assertSameEntries((await readSound(store, "s")).entries, entries.slice(0, at + 1));
    }
    await sink.close();
  },

  "what was appended and not flushed is written when it is closed": async ({ store, reopen }) => {
    const entries = chain(["a", "b", "c"]);
    const sink = store.open({ header: sampleHeader("s"), entries: [] });
    for (const entry of entries) sink.append(entry);
    await sink.close();
    assertSameEntries((await readSound(await reopen(), "s")).entries, entries);
  },

  "a session that is only opened is not written": async ({ store, reopen }) => {
    await keep(store, { header: sampleHeader("s"), known: chain(["a", "b"]), entries: [] });
    assert.equal(await (await reopen()).read("s"), undefined);
  },

  "a session goes on where it was left, again and again": async ({ store, reopen }) => {
    const header = sampleHeader("s");
    let last: string | null = null;
    const all: Entry[] = [];
    let opened = store;
    for (let round = 0; round < 4; round++) {
      const known = (await opened.read("s"))?.entries ?? [];
      const more = chain([`a${round}`, `b${round}`], last);
      await keep(opened, { header, known, entries: more });
      all.push(...more);
      last = `b${round}`;
      opened = await reopen();
      assertSameEntries((await readSound(opened, "s")).entries, all);
    }
  },

  "what a store has already is not written twice, and what it lacks is added": async ({ store, reopen }) => {
    const header = sampleHeader("s");
    const entries = chain(["a", "b", "c", "d", "e"]);
    await keep(store, { header, entries: entries.slice(0, 3) });
    const again = await reopen();
    await keep(again, { header, known: entries.slice(0, 4), entries: entries.slice(4) });
    assertSameEntries((await readSound(again, "s")).entries, entries);
    await keep(again, { header, known: entries, entries: entries.slice(4) });
    assertSameEntries((await readSound(await reopen(), "s")).entries, entries);
  },

  "sessions with the same entry ids are not mixed up": async ({ store, reopen }) => {
    const entries = (of: string) => [said({ id: "a", parentId: null }, of), said({ id: "b", parentId: "a" }, of)];
    await Promise.all(["one", "two"].map((id) => keep(store, { header: sampleHeader(id), entries: entries(id) })));
    const again = await reopen();
    for (const id of ["one", "two"]) assertSameEntries((await readSound(again, id)).entries, entries(id));
  },

  "twenty sessions that are written side by side each have their own": async ({ store, reopen }) => {
    const ids = Array.from({ length: 20 }, (_, at) => `side-${at}`);
    const entries = (id: string) => chain(["a", "b", "c"].map((name) => `${name}-${id}`));
    await Promise.all(ids.map((id) => keep(store, { header: sampleHeader(id), entries: entries(id) })));
    const again = await reopen();
    for (const id of ids) assertSameEntries((await readSound(again, id)).entries, entries(id));
  },
};

/** One entry of each kind, results and asides in between, and two that only another program knows. */
function everyKind(): Entry[] {
  const entries = [
    said({ id: "u", parentId: null }),
    answered({ id: "v", parentId: "u" }, "call_1"),
    resulted({ id: "w", parentId: "v" }, "call_1"),
  ];
  for (const [type, make] of Object.entries(SAMPLES)) entries.push(make({ id: `e-${type}`, parentId: "w" }, "u"));
  const odd = { id: "odd", parentId: "w" };
  entries.push(entryOf("someone_elses", odd, { z: 1, a: { b: [true] } }));
  const message = { role: "user", content: "text", timestamp: 1, theirs: { kept: "yes" } };
  entries.push(entryOf("message", { id: "more", parentId: "odd" }, { message, mark: 7 }));
  return entries;
}
