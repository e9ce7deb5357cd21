/** What was written to standard output meanwhile, by code for which `isWatched` holds; it does not come out. */
export interface WatchedOutput extends Disposable {
  written: string[];
}

/** The methods of the console that write to standard output. A test runner's console does not use `process.stdout`. */
const METHODS = ["log", "info", "debug", "table", "dir"] as const;

export function watchOutput(isWatched: () => boolean): WatchedOutput {
  const written: string[] = [];
  const undos: (() => void)[] = [];
  const replace = <T extends object>(holder: T, name: keyof T & string, answer: unknown) => {
    const original = holder[name] as (...args: unknown[]) => unknown;
    const own = Object.getOwnPropertyDescriptor(holder, name);
    holder[name] = ((...args: unknown[]) => {
      if (!isWatched()) return original.apply(holder, args);
      written.push(String(args[0]));
      // A stream's writer may wait for its callback.
      const done = args.at(-1);
      if (answer === true && typeof done === "function") queueMicrotask(() => (done as () => void)());
      return answer;
    }) as T[typeof name];
    undos.push(() => {
      if (own) Object.defineProperty(holder, name, own);
      else delete holder[name];
    });
  };
  replace(process.stdout, "write", true);
  for (const method of METHODS) replace(console, method, undefined);
  return {
    written,
    [Symbol.dispose]() {
      for (const undo of undos) undo();
    },
  };
}
