/** `pi update [source]`: what is newer, shown before it acts; what is pinned stays. */
import { isAgentError } from "@pi-agent/kernel";
import { applyChange } from "./apply.ts";
import { type PackageContext, type PackageScope, scopeOf } from "./context.ts";
import { type Declared, readDeclared } from "./declared.ts";
import { findLocked, lockKey, readLocks } from "./effective.ts";
import type { Lock, LockedPackage } from "./lock-file.ts";
import { type PackagePreview, previewOf, versionOf } from "./preview.ts";
import { findDeclared } from "./remove.ts";
import { assertFits, isSameTarget, rememberedScripts, withEntry } from "./rules.ts";
import { type Staged, stageSource } from "./stage.ts";
import { withStore } from "./store.ts";
import { resolveTarget } from "./target.ts";
import { openWorkshop, type Workshop } from "./workshop.ts";

export interface PackageUpdate {
  identity: string;
  source: string;
  /** Absent where it was not installed. */
  from?: string;
  /** Absent where nothing newer is there. */
  to?: string;
  status: "update" | "current" | "pinned" | "failed";
  /** Why it is pinned, or failed. */
  reason?: string;
  preview?: PackagePreview;
}

export interface UpdateOptions {
  scope?: PackageScope["name"];
  /** Only this one. */
  source?: string;
  cwd: string;
  allowScripts?: readonly string[];
  /** Shows what would change and answers whether it shall; absent is yes. Not asked where nothing would. */
  confirm?: (updates: readonly PackageUpdate[]) => Promise<boolean>;
}

export interface UpdateOutcome {
  status: "updated" | "current" | "declined";
  updates: PackageUpdate[];
}

interface Found {
  update: PackageUpdate;
  each: Declared;
  staged?: Staged;
}

/**
 * Updates what is declared, all at once. What fails leaves the others to be updated, and is told. Fails with
 * `package_unknown` for a source that is not declared, and with `package_not_saved`.
 */
export async function updatePackages(context: PackageContext, options: UpdateOptions): Promise<UpdateOutcome> {
  const scope = scopeOf(context, options.scope ?? "user");
  return await withStore(context, scope, async (assertHeld) => {
    const shop = openWorkshop(context, scope, assertHeld);
    const locks = readLocks(scope);
    const only =
      options.source === undefined
        ? undefined
        : await findDeclared(context, { scope, text: options.source, cwd: options.cwd });
    const declared = only ? [only] : readDeclared(context, scope).declared;
    const found: Found[] = [];
    for (const each of declared) {
      if (each.source.kind === "local") continue;
      const before = await findLocked(scope, each, locks);
      found.push(await orFailed({ each, before }, () => findUpdate(shop, { each, before, lock: locks.now, options })));
    }
    const updates = found.map(({ update }) => update);
    const changed = found.flatMap(({ each, staged }) => (staged ? [{ each, staged }] : []));
    if (changed.length === 0) return { status: "current", updates };
    if (options.confirm && !(await options.confirm(updates))) return { status: "declined", updates };
    const lock = changed.reduce<Lock>(
      (all, { each, staged }) => withEntry(all, each.source, { scope, locked: staged.locked }),
      locks.now,
    );
    await applyChange(shop, { staged: changed.map(({ staged }) => staged), lock });
    return { status: "updated", updates };
  });
}

async function findUpdate(
  shop: Workshop,
  {
    each,
    before,
    lock,
    options,
  }: { each: Declared; before: LockedPackage | undefined; lock: Lock; options: UpdateOptions },
): Promise<Found> {
  const { source, text } = each;
  const { context, scope } = shop;
  const from = before && versionOf(before);
  const target = await resolveTarget(shop, source);
  const facts = { identity: source.identity, source: text, from };
  // A tag that was moved is still the same pin: only another source changes what is meant.
  const isPinned = target.pinned !== undefined && before?.source === text;
  if (isPinned) return { each, update: { ...facts, status: "pinned", reason: target.pinned } };
  if (before && isSameTarget(before, target)) return { each, update: { ...facts, status: "current" } };
  const allowed = [...rememberedScripts(scope, before), ...(options.allowScripts ?? [])];
  const staged = await stageSource(shop, source, { target, allowed });
  await assertFits(shop, staged, new Map([...lock].filter(([key]) => key !== lockKey(source, scope))));
  const preview = previewOf(context, staged, before);
  return { each, staged, update: { ...facts, to: versionOf(staged.locked), status: "update", preview } };
}

async function orFailed(
  { each, before }: { each: Declared; before: LockedPackage | undefined },
  find: () => Promise<Found>,
): Promise<Found> {
  try {
    return await find();
  } catch (thrown) {
    // What concerns the store or the person's wish concerns all of them.
    if (!isAgentError(thrown) || thrown.code === "package_not_saved") throw thrown;
    const { source, text } = each;
    const from = before && versionOf(before);
    return {
      each,
      update: { identity: source.identity, source: text, from, status: "failed", reason: thrown.message },
    };
  }
}
