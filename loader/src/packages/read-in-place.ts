import { basename } from "node:path";
import { lookAt } from "../places.ts";
import { type PackageManifest, readPackageManifest } from "./manifest-of.ts";

/** Reads the manifest of a folder; a file, or a folder without one, has its own name. */
export async function readInPlace(path: string): Promise<PackageManifest> {
  const fallback =
    basename(path)
      .toLowerCase()
      .replace(/[^a-z0-9._-]/g, "-")
      .replace(/^[.-]+/, "") || "package";
  if (lookAt(path)?.isFile()) {
    const nothing = { capabilities: [], lends: [], hostPeers: {}, bundledHosts: [], hasInstallScripts: false };
    return { name: fallback, isNamed: false, wanted: { dependencies: {}, optionalDependencies: {} }, ...nothing };
  }
  return await readPackageManifest(path, { label: path, fallback });
}
