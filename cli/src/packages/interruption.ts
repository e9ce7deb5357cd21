/**
 * What a person is told when a signal stops an operation on packages.
 *
 *   it was still being prepared ─► told at once: nothing comes into force after a signal
 *   it was being saved          ─► told when it has ended, or when the time is up that a signal leaves
 */
import type { PackageProgress } from "@pi-agent/loader";

export interface Interruption {
  /** Notes how far the operation is. */
  note(step: PackageProgress["step"]): void;
  /** To be called when a signal has fired; resolves when the process may end. */
  happen(): Promise<void>;
  /** To be called when the operation has ended. `isDone`: it was carried out before it could be stopped. */
  settle(isDone: boolean): void;
}

// Of the 900 ms that a signal leaves, so that something can still be said.
const SETTLE_MS = 700;
const UNCHANGED = "Interrupted. What was installed before is as it was.";
const UNKNOWN = "Interrupted. What holds is the old state or the new one, whole: pi list shows which.";

/** Watches one operation. `tell` writes a line. */
export function watchInterruption(tell: (line: string) => void): Interruption {
  const { promise: settled, resolve } = Promise.withResolvers<string | undefined>();
  // What reports nothing is saved at once.
  let mayBeSaved = true;
  return {
    note(step) {
      mayBeSaved = step === "saving";
    },
    async happen() {
      if (!mayBeSaved) tell(UNCHANGED);
      const late = Promise.withResolvers<string>();
      const timer = setTimeout(() => late.resolve(UNKNOWN), SETTLE_MS);
      const line = await Promise.race([settled, late.promise]);
      clearTimeout(timer);
      if (mayBeSaved && line !== undefined) tell(line);
    },
    settle: (isDone) => resolve(isDone ? undefined : UNCHANGED),
  };
}
