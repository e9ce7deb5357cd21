/**
 * Brings a change into force, all of it or nothing (P4).
 *
 *   scripts, records ─► roots in place ─► previous lock ─► lock ─► settings ─► what nothing names is taken away
 *
 * Until the lock is replaced the old state holds. Between lock and settings a package whose source changed is taken
 * from the previous lock, and one that is new is not declared: the old state, too.
 */
import { basename } from "node:path";
import { readPrevious } from "./effective.ts";
import { type Lock, writeLock } from "./lock-file.ts";
import { runScripts } from "./npm-scripts.ts";
import { wordUnsaved } from "./package-error.ts";
import { writeRecord } from "./record.ts";
import type { Staged } from "./stage.ts";
import { moveIntoPlace, packageIn, pruneStore, rootOf } from "./store.ts";
import { digestRoot } from "./verify.ts";
import type { Workshop } from "./workshop.ts";

/** What a change comes to. */
export interface Change {
  staged: readonly Staged[];
  lock: Lock;
  /** Writes the settings. */
  declare?: () => Promise<void>;
}

/** Brings a change into force. Fails with `package_script`, `package_not_saved` and what writing settings fails with. */
export async function applyChange(shop: Workshop, { staged, lock, declare }: Change): Promise<void> {
  const { scope, context } = shop;
  for (const each of staged) await finish(shop, each);
  for (const each of staged) {
    context.onProgress?.({ step: "saving", what: each.locked.name });
    shop.assertHeld();
    await moveIntoPlace(scope, each.folder, rootOf(scope, each.locked));
  }
  shop.assertHeld();
  context.onProgress?.({ step: "saving", what: basename(scope.lock) });
  await writeLock(scope, lock);
  await declare?.();
  await pruneStore(scope, [lock, readPrevious(scope)]);
}

async function finish(
  { context, scope }: Workshop,
  { folder, locked, scripted, contents, manifest }: Staged,
): Promise<void> {
  const allowed = scripted.filter(({ name }) => locked.scripts.includes(name));
  await runScripts(context, packageIn(folder), allowed);
  try {
    const built = allowed.length > 0 ? await digestBuilt(folder, locked) : undefined;
    const { capabilities, hostPeers, lends } = manifest;
    // That they fit was found before anybody was asked.
    const known = Object.entries(context.hostVersions).filter(([name]) => Object.hasOwn(hostPeers, name));
    await writeRecord(folder, { contents, capabilities, hostPeers, lends, built, fits: Object.fromEntries(known) });
  } catch (cause) {
    throw wordUnsaved(scope.store, cause);
  }
}

async function digestBuilt(folder: string, locked: Staged["locked"]): Promise<string> {
  const digests = await digestRoot(folder, locked);
  if ("reason" in digests) throw new Error(`its scripts left something that ${digests.reason}`);
  return digests.all;
}
