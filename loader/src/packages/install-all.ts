/**
 * `pi install`: what settings and lock name, all of it or nothing. `--frozen` refuses every difference between the two;
 * with a lock file of its own it goes back to that one.
 */

import { realPathOf } from "../places.ts";
import { applyChange } from "./apply.ts";
import { type PackageContext, type PackageScope, scopeOf } from "./context.ts";
import { type Declared, type DeclaredFault, readDeclared } from "./declared.ts";
import { isMeantBy, lockKey } from "./effective.ts";
import { type Lock, type LockedPackage, readLock } from "./lock-file.ts";
import { showSource, wordDrift } from "./package-error.ts";
import { type PackagePreview, previewOf } from "./preview.ts";
import { assertFits, assertScripts, withScripts } from "./rules.ts";
import { type Staged, stageLocked, stageSource } from "./stage.ts";
import { withStore } from "./store.ts";
import { resolveTarget } from "./target.ts";
import { verifyInstalled } from "./verify.ts";
import { openWorkshop, type Workshop } from "./workshop.ts";

export interface InstallAllOptions {
  scope?: PackageScope["name"];
  /** Nothing is resolved: settings and lock must name the same. */
  isFrozen?: boolean;
  /** The lock to install from, in place of the one beside the settings. */
  lockFile?: string;
  allowScripts?: readonly string[];
  /** Shows what the lock does not name yet; absent is yes. */
  confirm?: (previews: readonly PackagePreview[]) => Promise<boolean>;
}

export interface InstallAllOutcome {
  status: "installed" | "unchanged" | "declined";
  /** What was put in place. */
  installed: { source: string; name: string; version?: string }[];
}

interface Planned {
  each: Declared;
  locked?: LockedPackage;
}

/** Installs what is declared. Fails with `package_drift` when frozen, and with what staging and saving fail with. */
export async function installAll(context: PackageContext, options: InstallAllOptions = {}): Promise<InstallAllOutcome> {
  const scope = scopeOf(context, options.scope ?? "user");
  return await withStore(context, scope, async (assertHeld) => {
    const shop = openWorkshop(context, scope, assertHeld);
    const given = readLock(options.lockFile ?? scope.lock);
    const { declared, faults } = readDeclared(context, scope);
    const fetched = declared.filter(({ source }) => source.kind !== "local");
    const plan = await Promise.all(fetched.map((each) => planFor(scope, each, given)));
    if (options.isFrozen) assertNoDrift(scope, given, { plan, faults });
    const { staged, lock, anew } = await stagePlan(shop, plan, options);
    if (anew.length > 0 && options.confirm && !(await options.confirm(anew)))
      return { status: "declined", installed: [] };
    await applyChange(shop, { staged, lock });
    const installed = staged.map(({ locked: { source, name, version } }) => ({ source, name, version }));
    return { status: installed.length === 0 ? "unchanged" : "installed", installed };
  });
}

async function planFor(scope: PackageScope, each: Declared, given: Lock): Promise<Planned> {
  const locked = given.get(lockKey(each.source, scope));
  if (locked === undefined || locked.source === each.text) return { each, locked };
  return (await isMeantBy(each.source, locked)) ? { each, locked: { ...locked, source: each.text } } : { each };
}

async function stagePlan(
  shop: Workshop,
  plan: readonly Planned[],
  { allowScripts = [], isFrozen, lockFile }: InstallAllOptions,
): Promise<{ staged: Staged[]; lock: Lock; anew: PackagePreview[] }> {
  const { scope, context } = shop;
  const lock = new Map<string, LockedPackage>();
  const staged: Staged[] = [];
  const anew: PackagePreview[] = [];
  for (const { each, locked: before } of plan) {
    const key = lockKey(each.source, scope);
    if (before) {
      const locked = isFrozen ? before : withScripts(before, allowScripts);
      const isThere = (await verifyInstalled(scope, locked, true)).state === "ok";
      // A lock file from elsewhere is somebody's word, as a project's is.
      if (!isThere && isForeign(scope, lockFile)) assertScripts(locked, allowScripts);
      const made = isThere ? undefined : await stageLocked(shop, each.source, { locked, allowed: allowScripts });
      if (made) await assertFits(shop, made, lock);
      if (made) staged.push(made);
      // The digests of what only this machine needs are no reason to change a frozen lock.
      lock.set(key, isFrozen ? locked : (made?.locked ?? locked));
    } else {
      const target = await resolveTarget(shop, each.source);
      const made = await stageSource(shop, each.source, { target, allowed: allowScripts });
      await assertFits(shop, made, lock);
      anew.push(previewOf(context, made));
      staged.push(made);
      lock.set(key, made.locked);
    }
  }
  return { staged, lock, anew };
}

function isForeign({ lock, previousLock }: PackageScope, lockFile: string | undefined): boolean {
  return lockFile !== undefined && ![lock, previousLock].map(realPathOf).includes(realPathOf(lockFile));
}

function assertNoDrift(
  scope: PackageScope,
  given: Lock,
  { plan, faults }: { plan: readonly Planned[]; faults: readonly DeclaredFault[] },
): void {
  const keys = new Set(plan.map(({ each }) => lockKey(each.source, scope)));
  const differences = [
    ...faults.map(({ text }) => `${showSource(text)} is no package source`),
    ...plan.filter(({ locked }) => !locked).map(({ each }) => `${each.text} is not locked`),
    ...[...given].filter(([key]) => !keys.has(key)).map(([, { source }]) => `${source} is locked and not declared`),
  ];
  if (differences.length > 0) throw wordDrift(scope.settings, differences);
}
