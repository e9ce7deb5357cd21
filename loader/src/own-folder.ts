import { chmod, mkdir } from "node:fs/promises";
import { lookAt } from "./places.ts";

/** Makes a folder that only this user may enter, or makes it so. Fails when a link or anything else stands there. */
export async function makeOwnFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const stats = lookAt(path);
  if (!stats?.isDirectory()) throw new Error(`${path} is ${stats?.isSymbolicLink() ? "a link" : "no folder"}`);
  if ((stats.mode & 0o777) !== 0o700) await chmod(path, 0o700);
}
