import type { EventEmitter } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";

import { type BuiltIns, listReplaced, readBuiltIns } from "./built-ins.ts";

type Listener = (...args: unknown[]) => void;

/** What an extension may change in its process without meaning to. */
export interface ProcessState {
  listeners: { emitter: EventEmitter; name: string; event: string | symbol; listener: Listener }[];
  builtIns: BuiltIns;
  globals: Map<string | symbol, PropertyDescriptor>;
  variables: Record<string, string | undefined>;
  cwd: string;
  /** Open files by descriptor, where the system tells. */
  files: Map<string, string>;
}

export function readProcessState(): ProcessState {
  const emitters: [string, EventEmitter][] = [
    ["process", process],
    ["process.stdout", process.stdout],
    ["process.stderr", process.stderr],
  ];
  return {
    listeners: emitters.flatMap(([name, emitter]) =>
      emitter
        .eventNames()
        .flatMap((event) =>
          emitter.rawListeners(event).map((listener) => ({ emitter, name, event, listener: listener as Listener })),
        ),
    ),
    builtIns: readBuiltIns(),
    globals: new Map(
      Reflect.ownKeys(globalThis).map((key) => [key, Reflect.getOwnPropertyDescriptor(globalThis, key)!]),
    ),
    variables: { ...process.env },
    cwd: process.cwd(),
    files: readOpenFiles(),
  };
}

/** Something that is different, and the way to take it back. */
export interface Change {
  what: string;
  undo: () => void;
}

/** Lists what is different from an earlier state. */
export function listChanges(before: ProcessState, after = readProcessState()): Change[] {
  return [
    ...listNewListeners(before, after),
    ...listReplaced(before.builtIns),
    ...listGlobals(before, after),
    ...listVariables(before, after),
    ...(before.cwd === after.cwd
      ? []
      : [{ what: `the working directory ${after.cwd}`, undo: () => process.chdir(before.cwd) }]),
    ...listNewFiles(before, after),
  ];
}

function listNewListeners(before: ProcessState, after: ProcessState): Change[] {
  return after.listeners
    .filter(
      ({ event, listener }) => !before.listeners.some((each) => each.event === event && each.listener === listener),
    )
    .map(({ emitter, name, event, listener }) => ({
      what: `a listener of ${name} for ${String(event)}`,
      undo: () => void emitter.off(event, listener),
    }));
}

/** Keys that node and test runners make when something is first used. */
const KEPT_BY_OTHERS = /^(?:Symbol\()?(?:undici\.|__vite|__coverage)/;

function listGlobals(before: ProcessState, after: ProcessState): Change[] {
  return [...after.globals].flatMap(([key, { value }]) => {
    const old = before.globals.get(key);
    if (KEPT_BY_OTHERS.test(String(key))) return [];
    if (!old) return [{ what: `the global ${String(key)}`, undo: () => void Reflect.deleteProperty(globalThis, key) }];
    // Node's own globals are accessors that become values when they are first used.
    if (!("value" in old) || Object.is(old.value, value)) return [];
    return [
      {
        what: `the global ${String(key)}, which it replaced`,
        undo: () => void Reflect.defineProperty(globalThis, key, old),
      },
    ];
  });
}

function listVariables({ variables: before }: ProcessState, { variables: after }: ProcessState): Change[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter((name) => before[name] !== after[name])
    .map((name) => ({
      what: `the environment variable ${name}`,
      undo() {
        if (before[name] === undefined) delete process.env[name];
        else process.env[name] = before[name];
      },
    }));
}

function listNewFiles(before: ProcessState, after: ProcessState): Change[] {
  return [...after.files]
    .filter(([descriptor, path]) => before.files.get(descriptor) !== path)
    .map(([, path]) => ({ what: `the open file ${path}`, undo: () => {} }));
}

/** Linux tells the files of a process; elsewhere there is nothing to read. */
function readOpenFiles(): Map<string, string> {
  const files = new Map<string, string>();
  let descriptors: string[];
  try {
    descriptors = readdirSync("/proc/self/fd");
  } catch {
    return files;
  }
  for (const descriptor of descriptors) {
    try {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`);
      if (path.startsWith("/") && !path.startsWith("/proc/") && !path.startsWith("/dev/")) files.set(descriptor, path);
    } catch {
      // It was closed since the folder was read, as that of the folder itself.
    }
  }
  return files;
}
