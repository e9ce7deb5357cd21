import { realPath } from "./paths.ts";
import type { MaybePromise } from "./result.ts";

/** The last change of each real path that is under way, in this process. */
const tails = new Map<string, Promise<unknown>>();

/**
 * Runs `fn` when every earlier change of the same real file is over, however that ended. Changes of other files go on
 * beside it; the order is that of the calls.
 */
export function mutate<T>(path: string, fn: () => MaybePromise<T>): Promise<T> {
  return enqueue(keyOf(path), fn);
}

async function enqueue<T>(key: string, fn: () => MaybePromise<T>): Promise<T> {
  const earlier = tails.get(key);
  const { promise, resolve } = Promise.withResolvers<void>();
  tails.set(key, promise);
  try {
    if (earlier) await earlier;
    return await fn();
  } finally {
    resolve();
    if (tails.get(key) === promise) tails.delete(key);
  }
}

function keyOf(path: string): string {
  try {
    return realPath(path);
  } catch {
    return path;
  }
}
