/** Tarballs that npm's libraries put into the cache, read by their hash alone: those libraries take longer to load. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Reads a tarball whose bytes are those of its integrity; `undefined` where the cache has none. */
export async function readCachedTarball(cache: string, integrity: string): Promise<Buffer | undefined> {
  const wanted = /^sha512-([A-Za-z\d+/]+={0,2})$/.exec(integrity)?.[1];
  if (wanted === undefined) return undefined;
  const hash = Buffer.from(wanted, "base64").toString("hex");
  // The layout of cacache's content, version 2.
  const path = join(cache, "content-v2", "sha512", hash.slice(0, 2), hash.slice(2, 4), hash.slice(4));
  const bytes = await readFile(path).catch(() => undefined);
  return bytes && createHash("sha512").update(bytes).digest("hex") === hash ? bytes : undefined;
}
