/** Asks registries which version is meant, and fetches tarballs from them or from the cache. */
import { cacheOf, type PackageContext } from "./context.ts";
import { wordFetchFault, wordTooYoung } from "./fetch-error.ts";
import type { NpmOptions } from "./npmrc.ts";
import { wordUnsafe } from "./package-error.ts";
import { readCachedTarball } from "./tarball-cache.ts";
import type { Workshop } from "./workshop.ts";

/** What a registry tells of a version. What it does not tell is absent. */
export interface ResolvedVersion {
  name: string;
  version: string;
  resolved: string;
  integrity: string;
  publishedAt?: string;
  publisher?: string;
  deprecated?: string;
}

// A compressed tarball that is larger is no package.
/** Larger tarballs are read by nobody. */
export const MAX_TARBALL_BYTES = 256 << 20;

/** Resolves a version, range or tag. The registry is asked anew, so that what was published since counts. */
export async function resolveVersion(options: NpmOptions, name: string, spec: string): Promise<ResolvedVersion> {
  const { default: pacote } = await import("pacote");
  const wanted = `${name}@${spec || "latest"}`;
  try {
    // Maintainers and times are only in the full answer.
    const manifest = await pacote.manifest(wanted, { ...options, fullMetadata: true, preferOnline: !options.offline });
    if (manifest.name !== name) throw wordUnsafe(name, "the registry answers with a package of another name");
    return {
      name,
      version: manifest.version,
      resolved: withoutCredentials(manifest._resolved),
      integrity: assertIntegrity(name, manifest._integrity),
      publishedAt: textOf(manifest, "_time"),
      publisher: publisherOf(manifest),
      deprecated: textOf(manifest, "deprecated"),
    };
  } catch (cause) {
    throw wordFetchFault(wanted, cause, options.signal);
  }
}

/** Lists the versions that a registry has, and its tags. */
export async function listVersions(
  options: NpmOptions,
  name: string,
): Promise<{ versions: string[]; tags: Record<string, string> }> {
  const { default: pacote } = await import("pacote");
  try {
    const { versions, "dist-tags": tags } = await pacote.packument(name, {
      ...options,
      preferOnline: !options.offline,
    });
    return { versions: Object.keys(versions), tags };
  } catch (cause) {
    throw wordFetchFault(name, cause, options.signal);
  }
}

/** Fetches a tarball with the bytes that `integrity` promises, from the cache where they are there. */
export async function fetchTarball(
  { context, npm }: Workshop,
  { name, version, resolved, integrity }: { name: string; version: string; resolved: string; integrity: string },
): Promise<Buffer> {
  const cached = await readCachedTarball(cacheOf(context), integrity);
  if (cached) return cached;
  const wanted = `${name}@${version}`;
  try {
    const [{ default: pacote }, options] = await Promise.all([import("pacote"), npm()]);
    const { RegistryFetcher } = pacote as unknown as { RegistryFetcher: FetcherClass };
    const fetcher = new RegistryFetcher(wanted, { ...options, resolved, integrity });
    // One that has a manifest asks for nothing but the tarball.
    fetcher.package = { name, version };
    return await fetcher.tarballStream((stream) => collect(wanted, stream));
  } catch (cause) {
    throw wordFetchFault(wanted, cause, context.signal);
  }
}

/** What of pacote its types leave out. */
type FetcherClass = new (
  spec: string,
  options: object,
) => { package: object; tarballStream<T>(read: (stream: NodeJS.ReadableStream) => Promise<T>): Promise<T> };

function collect(name: string, stream: NodeJS.ReadableStream): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    stream.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_TARBALL_BYTES) chunks.push(chunk);
      else reject(wordUnsafe(name, `its tarball is larger than ${MAX_TARBALL_BYTES >> 20} MB`));
    });
    stream.on("error", reject);
    stream.on("end", () => resolve(Buffer.concat(chunks)));
  });
}

/** Fails when a registry tells no integrity: nothing would say that its bytes stay the same. */
export function assertIntegrity(name: string, integrity: string | null | undefined): string {
  if (integrity) return integrity;
  throw wordUnsafe(name, "the registry tells no integrity of its tarball");
}

/** Takes user and password out of an address. */
export function withoutCredentials(address: string): string {
  const url = new URL(address);
  url.username = "";
  url.password = "";
  return url.href;
}

/** Fails with `package_too_young` where the person wants versions to be older. */
export function assertOldEnough(
  { minimumReleaseAgeMs: minimum }: PackageContext,
  { name, version, publishedAt }: Pick<ResolvedVersion, "name" | "version" | "publishedAt">,
): void {
  if (!minimum) return;
  const ageMs = publishedAt === undefined ? undefined : Date.now() - Date.parse(publishedAt);
  if (ageMs !== undefined && ageMs >= minimum) return;
  const why =
    publishedAt === undefined ? "the registry does not tell when it was published" : `it was published ${publishedAt}`;
  throw wordTooYoung(`${name}@${version}`, why, minimum);
}

function textOf(value: object, key: string): string | undefined {
  const found: unknown = (value as Record<string, unknown>)[key];
  return typeof found === "string" && found !== "" ? found : undefined;
}

function publisherOf(manifest: object): string | undefined {
  const user: unknown = (manifest as Record<string, unknown>)._npmUser;
  return typeof user === "object" && user !== null ? textOf(user, "name") : undefined;
}
