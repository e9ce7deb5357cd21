/**
 * Which lock entry holds for a declared package.
 *
 *   the lock's, where its source is the declared one, or its version is in the declared range
 *   else the previous lock's, where its source is: a change was cut off between the lock and the settings
 *   else none: it is missing
 */

import { lookAt } from "../places.ts";
import type { PackageScope } from "./context.ts";
import type { Declared } from "./declared.ts";
import { type Lock, type LockedPackage, readLock } from "./lock-file.ts";
import { formatSource, type PackageSource } from "./source.ts";
import { packageIn, rootOf } from "./store.ts";

/** The locks of a scope. */
export interface Locks {
  now: Lock;
  previous: Lock;
}

/** Reads the locks, the previous one when it is asked for. Fails with `package_lock_broken`. */
export function readLocks(scope: PackageScope): Locks {
  let previous: Lock | undefined;
  return {
    now: readLock(scope.lock, scope.store),
    get previous() {
      return (previous ??= readPrevious(scope));
    },
  };
}

/** The key of a source in a lock; the same wherever the folder of the settings file lies. */
export function lockKey(source: PackageSource, scope: PackageScope): string {
  return source.kind === "tarball" ? `tarball:${formatSource(source, scope.folder)}` : source.identity;
}

/** Finds the entry that holds. */
export async function findLocked(
  scope: PackageScope,
  { source, text }: Declared,
  locks: Locks,
): Promise<LockedPackage | undefined> {
  const key = lockKey(source, scope);
  const now = locks.now.get(key);
  if (now?.source === text) return now;
  const previous = locks.previous.get(key);
  if (previous?.source === text && lookAt(packageIn(rootOf(scope, previous)))) return previous;
  return now && (await isMeantBy(source, now)) ? now : undefined;
}

/** Tells whether what is locked is in the range that a source names, whatever it was locked for. */
export async function isMeantBy(source: PackageSource, { version }: LockedPackage): Promise<boolean> {
  if (source.kind !== "npm" || version === undefined || source.how === "tag") return false;
  if (source.how === "exact") return source.spec === version;
  const { satisfies: isIn } = (await import("semver")).default;
  return isIn(version, source.spec);
}

/** Reads the previous lock; a broken one counts as empty. */
export function readPrevious(scope: PackageScope): Lock {
  try {
    return readLock(scope.previousLock);
  } catch {
    // Only there to go back to; what holds is said by the other one.
    return new Map();
  }
}
