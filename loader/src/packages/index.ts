/**
 * Packages: what settings declare, the lock file pins and the store holds.
 *
 *   pi install <source>  installPackage      pi install [--frozen]  installAll
 *   pi remove <source>   removePackage       pi update [source]     updatePackages
 *   pi list              listPackages, findNewer      pi config     turnResource
 *   a start              findInstalled
 *
 * Nothing is loaded before it is needed: not the libraries of npm, not those for versions.
 */
export { turnResource } from "./configure.ts";
export { type ContentItem, findContents, type PackageContents, RESOURCE_LISTS, type ResourceList } from "./contents.ts";
export { type PackageContext, type PackageProgress, type PackageScope, scopeOf } from "./context.ts";
export { type Declared, toDeclared } from "./declared.ts";
export type { Locks } from "./effective.ts";
export { type Filters, type Selection, select } from "./filters.ts";
export { type InstallOptions, type InstallOutcome, installPackage } from "./install.ts";
export { type InstallAllOptions, type InstallAllOutcome, installAll } from "./install-all.ts";
export { findInstalled, type InstalledPackage, mergeInstalled, type PackageState } from "./installed.ts";
export { findNewer, listPackages, type Newer } from "./list.ts";
export { type Lock, type LockedPackage, parseLock } from "./lock-file.ts";
export { showSource } from "./package-error.ts";
export { findNameFault } from "./package-name.ts";
export { type PackagePreview, wordPreview } from "./preview.ts";
export { type RemoveOutcome, removePackage } from "./remove.ts";
export { identityOf, type PackageSource, parseSource } from "./source.ts";
export { type PackageUpdate, type UpdateOptions, type UpdateOutcome, updatePackages } from "./update.ts";
