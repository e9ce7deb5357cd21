/** Folders and single files, which are loaded where they are: nothing is copied, and only the settings change. */
import { lookAt } from "../places.ts";
import { findContents, isEmpty } from "./contents.ts";
import { declare } from "./declared.ts";
import { findHostMisfit } from "./host-check.ts";
import type { InstallOptions, InstallOutcome } from "./install.ts";
import { findInstalled } from "./installed.ts";
import { wordConflict, wordNoFile, wordNothing, wordUnsafe } from "./package-error.ts";
import { findMissingHosts, type PackagePreview } from "./preview.ts";
import { readInPlace } from "./read-in-place.ts";
import { keyFor } from "./rules.ts";
import { formatSource, type LocalSource, type PackageSource } from "./source.ts";
import type { Workshop } from "./workshop.ts";

/** Declares a folder or file. Fails with `package_not_found`, `package_unsafe`, `package_empty` and `package_host`. */
export async function installInPlace(
  { context, scope }: Workshop,
  source: PackageSource & LocalSource,
  { confirm }: InstallOptions,
): Promise<InstallOutcome> {
  const { path, identity } = source;
  if (!lookAt(path)) throw wordNoFile(path, Object.assign(new Error("there is nothing"), { code: "ENOENT" }));
  const contents = await findContents(path);
  const [refused] = contents.refused;
  if (refused) throw wordUnsafe(path, `"${refused.path}" ${refused.reason}`);
  if (isEmpty(contents)) throw wordNothing(path);
  const manifest = await readInPlace(path);
  const misfit = await findHostMisfit(context.hostVersions, manifest);
  if (misfit) throw misfit;
  const { name, isNamed, version, capabilities } = manifest;
  const others = await findInstalled(context, scope);
  const other = others.find((each) => each.name === name && each.isNamed && each.identity !== identity);
  if (isNamed && other) throw wordConflict(name, other.source);
  const preview: PackagePreview = {
    identity,
    name,
    version,
    contents,
    capabilities,
    source: formatSource(source, scope.folder),
    resolved: "",
    dependencies: Object.keys(manifest.wanted.dependencies).length,
    capabilitiesAdded: [],
    capabilitiesRemoved: [],
    scripts: [],
    bundledHosts: [],
    missingHosts: findMissingHosts(context, manifest.hostPeers),
    pinned: "it is loaded where it is",
  };
  if (confirm && !(await confirm(preview))) return { status: "declined", name, version, folder: path, preview };
  await declare(context, scope, { source, key: keyFor(source, manifest) });
  return { status: "installed", name, version, folder: path, preview };
}
