/**
 * Whose code is running. Extension code is entered in the name of its owner, which what it leaves floating keeps (K14).
 *
 *   run ── enclose ──► loop ── enter(owner) ──► handler, tool
 *
 * From each frame an owner's entrance is made once: going through a made one costs a tenth of making it, and the context
 * that the caller gave the run stays the one that handlers see.
 */
import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import type { Owner } from "./contract.ts";

export interface Frame {
  readonly owner: Owner | undefined;
  /** How many questions to a person, completions or programs its code waits for: its clock stands still meanwhile. */
  waiting: number;
  /** How many of its handlers are being waited for. */
  pending: number;
  /** The exclusive work that it is part of. */
  readonly exclusiveOf?: object;
  /** The entrances that were made from here. */
  entrances?: Map<Owner, Entrance>;
}
export interface Entrance {
  readonly frame: Frame;
  readonly resource: AsyncResource;
}

const frames = new AsyncLocalStorage<Frame>();

/** The owner of the extension code that is running, also in what it left floating. */
export function currentOwner(): Owner | undefined {
  return frames.getStore()?.owner;
}

/** Runs code in the name of its owner, so that what it leaves behind can be told. */
export function runAs<T>(owner: Owner, fn: () => T): T {
  return entranceOf(owner).resource.runInAsyncScope(fn);
}

/** Where the code that is running was entered. */
export function currentFrame(): Frame | undefined {
  return frames.getStore();
}

/** The way into an owner's code from here. Calls that wait side by side have a clock each, and so an entrance each. */
export function entranceOf(owner: Owner, here = currentFrame()): Entrance {
  const known = here?.entrances?.get(owner);
  if (known && known.frame.pending === 0 && known.frame.waiting === 0) return known;
  const frame: Frame = { owner, waiting: 0, pending: 0, exclusiveOf: here?.exclusiveOf };
  const resource = frames.run(frame, () => new AsyncResource("pi-agent", { requireManualDestroy: true }));
  const entrance = { frame, resource };
  if (here) (here.entrances ??= new Map()).set(owner, entrance);
  return entrance;
}

/** Runs code of the kernel's own that will enter many owners' code, as part of exclusive work where it is any. */
export function enclose<T>(fn: () => T, exclusiveOf = currentFrame()?.exclusiveOf): T {
  return frames.run({ owner: currentOwner(), waiting: 0, pending: 0, exclusiveOf }, fn);
}

/** Stops the clock of the handler that is running while `fn` waits for something that is not its fault. */
export async function offTheClock<T>(fn: () => Promise<T>): Promise<T> {
  const frame = frames.getStore();
  if (!frame) return fn();
  frame.waiting++;
  try {
    return await fn();
  } finally {
    frame.waiting--;
  }
}
