/**
 * Keeps standard output for results: in print and JSON mode nothing else may reach it, whatever an extension prints.
 *
 *   results ─────────────────────────────────────────► standard output
 *   process.stdout, console ─────────────┐
 *   fs.write*(1, …), streams on 1 ───────┼───────────► standard error
 *   children that inherit 1 ─────────────┘
 *
 * Node cannot duplicate a descriptor, and reopening one (/proc/self/fd/1) fails for the sockets that Node gives its
 * children and loses the shared position of a file. So the doors that lead to 1 are turned in JavaScript. Three stay open:
 * native code, the fs module of a worker thread, and opening /dev/stdout by its path.
 */
import childProcess, { type StdioOptions } from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/** The real standard output, for results only. Its errors are `stream`'s `error` event; nothing here fails. */
export interface Output {
  readonly stream: NodeJS.WriteStream;
  write(text: string): void;
  /** Waits until the reader has caught up; nothing to wait for while it keeps up. */
  ready(): Promise<void> | undefined;
  /** Resolves when all that was written has left the process, or cannot leave any more. */
  flush(): Promise<void>;
}

/** Turns everything that would reach standard output to standard error, for good, and gives out the real one. */
export function guardStdout(): Output {
  const output = openStdout();
  Object.defineProperty(process, "stdout", {
    configurable: true,
    enumerable: true,
    get: () => process.stderr,
  });
  turnFileWrites();
  turnChildren();
  syncBuiltinESMExports();
  return output;
}

/** Gives out standard output and leaves it as it is: for what talks to a person. */
export function openStdout(): Output {
  const stream = process.stdout;
  let caughtUp: PromiseWithResolvers<void> | undefined;
  const goOn = () => {
    caughtUp?.resolve();
    caughtUp = undefined;
  };
  stream.on("drain", goOn).on("error", goOn).on("close", goOn);
  return {
    stream,
    write: (text) => void (stream.writable && stream.write(text)),
    ready: () => {
      if (!stream.writable || !stream.writableNeedDrain) return undefined;
      caughtUp ??= Promise.withResolvers();
      return caughtUp.promise;
    },
    flush: () =>
      new Promise((resolve) => {
        if (!stream.writable || stream.writableLength === 0) resolve();
        else stream.write("", () => resolve());
      }),
  };
}

const STDOUT = 1;
const STDERR = 2;
type AnyFunction = (...args: unknown[]) => unknown;

function turnFileWrites(): void {
  const names = [
    "write",
    "writeSync",
    "writev",
    "writevSync",
    "writeFile",
    "writeFileSync",
    "appendFile",
    "appendFileSync",
  ];
  for (const name of names) {
    replaceMember(
      fs,
      name,
      (original) =>
        (target, ...rest) =>
          original(target === STDOUT ? STDERR : target, ...rest),
    );
  }
}

function turnChildren(): void {
  const turn = (argument: unknown) =>
    argument !== null && typeof argument === "object" && "stdio" in argument
      ? { ...argument, stdio: turnStdio(argument.stdio as StdioOptions | undefined) }
      : argument;
  for (const name of ["spawnSync", "execSync", "execFileSync"]) {
    replaceMember(
      childProcess,
      name,
      (original) =>
        (...args) =>
          original(...args.map(turn)),
    );
  }
  // What spawn, exec, execFile and fork all go through.
  replaceMember(
    childProcess.ChildProcess.prototype,
    "spawn",
    (original) =>
      function (this: unknown, options) {
        return original.call(this, turn(options));
      },
  );
}

/** Answers the same plan for a child's descriptors, with our standard error wherever our standard output was meant. */
export function turnStdio(stdio: StdioOptions | undefined): StdioOptions | undefined {
  if (stdio === "inherit") return ["inherit", STDERR, "inherit"];
  if (!Array.isArray(stdio)) return stdio;
  return stdio.map((entry, descriptor) =>
    entry === STDOUT || (entry === "inherit" && descriptor === STDOUT) ? STDERR : entry,
  );
}

function replaceMember(holder: object, name: string, wrap: (original: AnyFunction) => AnyFunction): void {
  const members = holder as Record<string, AnyFunction>;
  const original = members[name] as AnyFunction;
  // The own properties carry what util.promisify needs.
  members[name] = Object.defineProperties(wrap(original), Object.getOwnPropertyDescriptors(original));
}
