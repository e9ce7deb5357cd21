/** Several who want the same session, and trees that grew on several sides. */
import assert from "node:assert/strict";
import { hostname } from "node:os";
import type { Entry } from "@pi-agent/kernel";
import type { Claim, Holder } from "../store.ts";
import { assertSameEntries, assertTree, copySession, keep, type OpenedStore, readSound } from "./play.ts";
import { answered, chain, entryOf, resulted, SAMPLES, said, sampleHeader } from "./samples.ts";

type Cases = Readonly<Record<string, (opened: OpenedStore) => Promise<void>>>;

export const SHARING: Cases = {
  "S3 F106 one at a time may write to a session: a second is told who does": async ({ store, reopen }) => {
    const header = sampleHeader("s");
    await keep(store, { header, entries: chain(["a"]) });
    await keep(store, { header: sampleHeader("other"), entries: chain(["a"]) });
    const other = await reopen();
    const before = Date.now();
    const mine = held(await store.claim("s"));
    assert.notEqual(mine.isHeld?.(), false);
    const refused = await other.claim("s");
    assert.ok("holder" in refused, "The second was given the right too.");
    const { pid, host, since } = refused.holder;
    assert.deepEqual({ pid, host }, { pid: process.pid, host: hostname() });
    assert.ok(Math.abs(Date.parse(since) - before) < 60_000, `It is held since ${since}.`);
    await held(await other.claim("other")).release();
    await mine.release();
    assert.notEqual(mine.isHeld?.(), true);
    const theirs = held(await other.claim("s"));
    assert.ok("holder" in (await store.claim("s")));
    await theirs.release();
  },

  "a session can be claimed before it is written, and given back twice": async ({ store, reopen }) => {
    const claim = held(await store.claim("new"));
    assert.ok("holder" in (await (await reopen()).claim("new")));
    await claim.release();
    await claim.release();
    await held(await store.claim("new")).release();
    assert.deepEqual(await store.list(), []);
  },

  "a session that is written to is not removed": async ({ store, reopen }) => {
    await keep(store, { header: sampleHeader("s"), entries: chain(["a"]) });
    const claim = held(await store.claim("s"));
    const other = await reopen();
    await assert.rejects(other.remove("s"), { code: "session_in_use" });
    assert.equal((await readSound(other, "s")).entries.length, 1);
    await claim.release();
    assert.equal(await other.remove("s"), true);
  },

  "F106 two who write turn about lose nothing: both branches are there, and every line is whole": async ({
    store,
    reopen,
  }) => {
    const header = sampleHeader("s");
    const known = chain(["root"]);
    await keep(store, { header, entries: known });
    const sides = [store, await reopen()].map((opened) => opened.open({ header, entries: known }));
    const all: Entry[] = [...known];
    for (let turn = 0; turn < 20; turn++) {
      for (const [side, sink] of sides.entries()) {
        const id = (at: number) => (at < 0 ? "root" : `side${side}-${at}`);
        const entry = said({ id: id(turn), parentId: id(turn - 1) }, `${side}`.repeat(5_000));
        all.push(entry);
        sink.append(entry);
        await sink.flush();
      }
    }
    const name = SAMPLES.session_info({ id: "title", parentId: "side1-19" }, "title");
    sides[1]!.append(name);
    for (const sink of sides) await sink.close();
    const { entries } = await readSound(await reopen(), "s");
    assertTree(entries);
    const byId = (one: Entry, other: Entry) => (one.id < other.id ? -1 : 1);
    assertSameEntries([...entries].sort(byId), [...all, name].sort(byId));
    assert.equal(entries.at(-1)!.id, "title");
  },

  "F107 a copy made at any entry of a tree has every parent, and its source is as it was": async ({
    store,
    reopen,
  }) => {
    const source = sampleTree();
    await keep(store, { header: sampleHeader("source"), entries: source });
    for (const [at, { id: leaf }] of source.entries()) {
      const way = pathTo(source, leaf);
      const header = sampleHeader(`copy-${at}`, { parentSession: "source" });
      await keep(store, { header, known: way.slice(0, -1), entries: way.slice(-1) });
    }
    const again = await reopen();
    // At the first one nothing is said yet.
    assert.equal(await again.read("copy-0"), undefined);
    for (const [at, { id: leaf }] of source.entries()) {
      if (at === 0) continue;
      const { entries } = await readSound(again, `copy-${at}`);
      assertTree(entries);
      assertSameEntries(entries, pathTo(source, leaf));
    }
    assertSameEntries((await readSound(again, "source")).entries, source);
  },

  "F160 what was exported and imported again is equal, and importing it twice changes nothing": async ({
    store,
    reopen,
  }) => {
    await keep(store, { header: sampleHeader("s"), entries: sampleTree() });
    await copySession(store, store, { id: "s", as: "t" });
    const again = await reopen();
    await copySession(again, again, { id: "t", as: "s" });
    for (const id of ["s", "t"]) assertSameEntries((await readSound(again, id)).entries, sampleTree());
  },

  "F109 a thousand entries deep, with two roots and many branches": async ({ store, reopen }) => {
    const trunk = chain(Array.from({ length: 1_000 }, (_, at) => `deep-${at}`));
    const twigs = trunk.filter((_, at) => at % 50 === 0).map(({ id }) => said({ id: `${id}-twig`, parentId: id }));
    const entries = [...trunk, said({ id: "second-root", parentId: null }), ...twigs];
    await keep(store, { header: sampleHeader("s"), known: entries.slice(0, -1), entries: entries.slice(-1) });
    const found = (await readSound(await reopen(), "s")).entries;
    assertTree(found);
    assertSameEntries(found, entries);
  },
};

/** A claim that must have been granted. */
function held(claim: Claim): Exclude<Claim, { holder: Holder }> {
  if ("release" in claim) return claim;
  return assert.fail(`The session is held by process ${claim.holder.pid} on ${claim.holder.host}.`);
}

/** A tree with labels, a compaction, a change of model, entries of extensions and a summary of a branch. */
function sampleTree(): Entry[] {
  return [
    SAMPLES.model_change({ id: "m", parentId: null }, "m"),
    said({ id: "u1", parentId: "m" }),
    answered({ id: "a1", parentId: "u1" }, "call_1"),
    resulted({ id: "r1", parentId: "a1" }, "call_1"),
    SAMPLES.label({ id: "l1", parentId: "r1" }, "u1"),
    SAMPLES.custom({ id: "c1", parentId: "l1" }, "u1"),
    said({ id: "u2", parentId: "c1" }),
    SAMPLES.compaction({ id: "k1", parentId: "u2" }, "u2"),
    SAMPLES.custom_message({ id: "cm", parentId: "k1" }, "u2"),
    said({ id: "u3", parentId: "cm" }),
    SAMPLES.branch_summary({ id: "b1", parentId: "r1" }, "u3"),
    entryOf("someone_elses", { id: "o1", parentId: "b1" }, { data: 1 }),
    SAMPLES.usage({ id: "us", parentId: "o1" }, "u1"),
    said({ id: "u4", parentId: "us" }),
    SAMPLES.session_info({ id: "si", parentId: "u4" }, "u1"),
  ];
}

function pathTo(entries: readonly Entry[], leaf: string): Entry[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const path: Entry[] = [];
  for (let entry = byId.get(leaf); entry; entry = byId.get(entry.parentId!)) path.unshift(entry);
  return path;
}
