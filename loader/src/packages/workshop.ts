import type { PackageContext, PackageScope } from "./context.ts";
import { loadNpmOptions, type NpmOptions } from "./npmrc.ts";

/** What every step of one operation shares. */
export interface Workshop {
  context: PackageContext;
  scope: PackageScope;
  /** Fails when the operation was aborted, or another process took over. */
  assertHeld: () => void;
  /** Read once, when a registry is first needed. */
  npm: () => Promise<NpmOptions>;
}

/** Opens what the steps of an operation share. */
export function openWorkshop(context: PackageContext, scope: PackageScope, assertHeld: () => void): Workshop {
  let options: Promise<NpmOptions> | undefined;
  return { context, scope, assertHeld, npm: () => (options ??= loadNpmOptions(context)) };
}
