/** `pi install <source>`: puts a package together, shows it, and brings it into force. */
import { applyChange } from "./apply.ts";
import { type PackageContext, type PackageScope, scopeOf } from "./context.ts";
import { declare, readDeclared } from "./declared.ts";
import { lockKey } from "./effective.ts";
import { installInPlace } from "./in-place.ts";
import { type Lock, type LockedPackage, readLock } from "./lock-file.ts";
import { readPackageManifest } from "./manifest-of.ts";
import { type PackagePreview, previewOf } from "./preview.ts";
import { assertFits, isSameTarget, keyFor, rememberedScripts, withEntry } from "./rules.ts";
import { formatSource, type PackageSource, parseSource } from "./source.ts";
import { stageLocked, stageSource } from "./stage.ts";
import { withStore } from "./store.ts";
import { resolveTarget, type Target } from "./target.ts";
import { folderOf, verifyInstalled } from "./verify.ts";
import { openWorkshop, type Workshop } from "./workshop.ts";

export interface InstallOptions {
  scope?: PackageScope["name"];
  /** What a relative path is relative to. */
  cwd: string;
  /** Packages whose install scripts may run. */
  allowScripts?: readonly string[];
  /** Shows what is to be installed and answers whether it shall be; absent is yes. */
  confirm?: (preview: PackagePreview) => Promise<boolean>;
}

export interface InstallOutcome {
  status: "installed" | "unchanged" | "declined";
  name: string;
  version?: string;
  /** Where it is. */
  folder: string;
  /** Absent where nothing changed. */
  preview?: PackagePreview;
}

/** Installs a package, or does nothing where it is there already. Fails with the codes of `package-error.ts`. */
export async function installPackage(
  context: PackageContext,
  text: string,
  options: InstallOptions,
): Promise<InstallOutcome> {
  const scope = scopeOf(context, options.scope ?? "user");
  const source = parseSource(text, { folder: options.cwd, home: context.home });
  return await withStore(context, scope, async (assertHeld) => {
    const shop = openWorkshop(context, scope, assertHeld);
    const isDeclared = readDeclared(context, scope).declared.some((each) => each.source.identity === source.identity);
    if (source.kind === "local") return await installInPlace(shop, source, options);
    const target = await resolveTarget(shop, source);
    return await installTarget(shop, source, { target, options, isDeclared });
  });
}

async function installTarget(
  shop: Workshop,
  source: PackageSource,
  { target, options, isDeclared }: { target: Target; options: InstallOptions; isDeclared: boolean },
): Promise<InstallOutcome> {
  const { context, scope } = shop;
  const lock = readLock(scope.lock);
  const before = lock.get(lockKey(source, scope));
  const allowed = [...rememberedScripts(scope, before), ...(options.allowScripts ?? [])];
  const isSame =
    before !== undefined && isSameTarget(before, target) && allowed.every((name) => before.scripts.includes(name));
  // What is merely locked was not asked about: a change may have been cut off.
  if (isSame && isDeclared && (await verifyInstalled(scope, before, true)).state === "ok")
    return await keep(shop, source, { lock, before });
  const staged = isSame
    ? await stageLocked(shop, source, { locked: { ...before, source: formatSource(source, scope.folder) }, allowed })
    : await stageSource(shop, source, { target, allowed });
  await assertFits(shop, staged, lock);
  const preview = previewOf(context, staged, before);
  const { name, version } = staged.locked;
  const outcome = { name, version, folder: folderOf(scope, staged.locked), preview };
  if (options.confirm && !(await options.confirm(preview))) return { ...outcome, status: "declined" };
  const after = withEntry(lock, source, { scope, locked: staged.locked });
  const key = keyFor(source, staged.manifest);
  await applyChange(shop, { staged: [staged], lock: after, declare: () => declare(context, scope, { source, key }) });
  return { ...outcome, status: "installed" };
}

/** What is installed is what is meant: only its source may be written another way. */
async function keep(
  shop: Workshop,
  source: PackageSource,
  { lock, before }: { lock: Lock; before: LockedPackage },
): Promise<InstallOutcome> {
  const { context, scope } = shop;
  const folder = folderOf(scope, before);
  const manifest = await readPackageManifest(folder, { label: before.name, fallback: before.name });
  const locked = { ...before, source: formatSource(source, scope.folder) };
  const after = withEntry(lock, source, { scope, locked });
  const key = keyFor(source, manifest);
  await applyChange(shop, { staged: [], lock: after, declare: () => declare(context, scope, { source, key }) });
  return { status: "unchanged", name: before.name, version: before.version, folder };
}
