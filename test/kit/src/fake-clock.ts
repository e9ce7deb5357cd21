import { install } from "@sinonjs/fake-timers";

/** Time that stands still until a test moves it. */
export interface FakeClock {
  /** Moves time on by milliseconds. Timers fire in their order, and what they resolve runs before the next one. */
  advance(ms: number): Promise<void>;
  /** Brings the real time back. A timer that has not fired by then never does. */
  restore(): void;
  [Symbol.dispose](): void;
}

/**
 * Takes over `setTimeout`, `setInterval`, `Date` and `performance.now` of this process, beginning at the present date.
 * Immediates, `process.nextTick` and everything outside of the process go on by themselves. Fails when one is
 * installed already.
 */
export function fakeClock(): FakeClock {
  const clock = install({
    now: Date.now(),
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date", "performance"],
  });
  const restore = () => clock.uninstall();
  return {
    async advance(ms) {
      await clock.tickAsync(ms);
    },
    restore,
    [Symbol.dispose]: restore,
  };
}
