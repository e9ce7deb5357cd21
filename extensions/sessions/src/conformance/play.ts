/** What the cases do with a store, and how they look at it. */
import assert from "node:assert/strict";
import type { Entry } from "@pi-agent/kernel";
import type { SessionHeader } from "../record.ts";
import type { SessionStore, StoredSession } from "../store.ts";

/** A store that was opened for a case. `reopen` opens the same place once more, while the first one goes on. */
export interface OpenedStore {
  store: SessionStore;
  reopen: () => Promise<SessionStore>;
}

/** Keeps a session, entry by entry, and closes it; `known` is what it was opened with. */
export async function keep(
  store: SessionStore,
  { header, known = [], entries }: { header: SessionHeader; known?: readonly Entry[]; entries: readonly Entry[] },
): Promise<void> {
  const sink = store.open({ header, entries: known });
  for (const entry of entries) {
    sink.append(entry);
    await sink.flush();
  }
  await sink.close();
}

/** Reads a session that must be there, and be sound. */
export async function readSound(store: SessionStore, id: string): Promise<StoredSession> {
  const session = await store.read(id);
  assert.ok(session, `There is no session ${JSON.stringify(id.slice(0, 80))}.`);
  assert.deepEqual(session.problems, []);
  return session;
}

/** Compares entries to the letter: their order, and the order of what is in them. */
export function assertSameEntries(actual: readonly Entry[], expected: readonly Entry[]): void {
  assert.deepEqual(
    actual.map(({ id }) => id),
    expected.map(({ id }) => id),
  );
  for (const [at, entry] of actual.entries()) {
    const [is, should] = [JSON.stringify(entry), JSON.stringify(expected[at])];
    if (is !== should) assert.fail(`Entry ${entry.id} is not what was kept: ${cut(is)} for ${cut(should)}`);
  }
}

/** Every parent is there, and comes before its children. */
export function assertTree(entries: readonly Entry[]): void {
  const seen = new Set<string | null>([null]);
  for (const { id, parentId } of entries) {
    assert.ok(seen.has(parentId), `The parent ${parentId} of ${id} does not come before it.`);
    seen.add(id);
  }
}

/** Copies a session to another store, or to another id: what an export and an import come to. */
export async function copySession(
  from: SessionStore,
  to: SessionStore,
  { id, as = id }: { id: string; as?: string },
): Promise<void> {
  const { header, entries } = await readSound(from, id);
  // What a store does not have is written with what is appended next.
  await keep(to, { header: { ...header, id: as }, known: entries.slice(0, -1), entries: entries.slice(-1) });
}

/** Compares all that two stores hold. */
export async function assertSameStores(one: SessionStore, other: SessionStore): Promise<void> {
  const ids = async (store: SessionStore) => (await store.list()).map(({ id }) => id).sort();
  assert.deepEqual(await ids(one), await ids(other));
  for (const id of await ids(one)) {
    const [first, second] = [await readSound(one, id), await readSound(other, id)];
    assert.equal(JSON.stringify(first.header), JSON.stringify(second.header));
    assertSameEntries(first.entries, second.entries);
  }
}

function cut(text: string | undefined): string {
  return (text ?? "nothing").slice(0, 300);
}
