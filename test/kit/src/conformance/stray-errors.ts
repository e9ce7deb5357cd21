const EVENTS = ["unhandledRejection", "uncaughtException"] as const;
type Listener = (...args: unknown[]) => void;

/** The errors that nobody caught meanwhile; those who listen for them otherwise, such as a test runner, are not told. */
export interface StrayErrors extends Disposable {
  readonly errors: unknown[];
}

export function catchStrayErrors(): StrayErrors {
  const errors: unknown[] = [];
  const take = (error: unknown) => void errors.push(error);
  const others = EVENTS.map((event) => [event, process.rawListeners(event) as Listener[]] as const);
  for (const [event, listeners] of others) {
    for (const listener of listeners) process.off(event, listener);
    process.on(event, take);
  }
  return {
    errors,
    [Symbol.dispose]() {
      for (const [event, listeners] of others) {
        process.off(event, take);
        for (const listener of listeners) process.on(event, listener);
      }
    },
  };
}
