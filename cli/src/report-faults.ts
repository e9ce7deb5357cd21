/** Tells on standard error what extensions do wrong, as it happens. */
import type { Agent, HookEvent, Undo } from "@pi-agent/kernel";
import { findPlace, toText } from "@pi-agent/loader";
import { printWarning } from "./print-error.ts";
import type { Problem } from "./problem.ts";

type Fault = HookEvent<"extension_error">;

/** Tells each fault until the undo: in full the first time in a run, then with its number when the run has settled. */
export function reportFaults(agent: Agent): Undo {
  const errors = new Map<string, Error>();
  const repeats = new Map<string, { what: string; number: number }>();
  const tell = (fault: Fault) => {
    const { owner, event, error: message } = fault;
    const { runId } = agent.state;
    const key = JSON.stringify([runId, owner, event, message]);
    const known = repeats.get(key);
    if (known) known.number++;
    else {
      const isKept = event === "load" && agent.extensions.some((each) => each.owner.name === owner && isAlive(each));
      const problem = describeFault(fault, { error: errors.get(keyOf(owner, message)), isKept });
      printWarning(problem);
      if (runId !== undefined) repeats.set(key, { what: problem.what, number: 0 });
    }
    errors.delete(keyOf(owner, message));
  };
  const undos = [
    agent.on("fault", ({ owner, error }) => void errors.set(keyOf(owner, error.message), error)),
    // The error itself comes right after.
    agent.on("extension_error", (fault) => queueMicrotask(() => tell(fault))),
    agent.on("agent_settled", () => {
      for (const { what, number } of repeats.values())
        if (number > 0) printWarning({ what: `${what}, ${times(number)}` });
      repeats.clear();
    }),
  ];
  return async () => {
    for (const undo of undos) await undo();
  };
}

/** Words a fault. `isKept`: a new version failed to load, and the one before goes on. */
export function describeFault(
  { owner, extensionPath, event, error: message, code }: Fault,
  { error, isKept }: { error: Error | undefined; isKept: boolean },
): Problem {
  const hint = error && "hint" in error ? (error.hint as string | undefined) : undefined;
  if (isKept) {
    const what = `The new version of ${owner} failed to load; the version before goes on`;
    return { what, why: placed(message, findText(error, extensionPath)), hint: "mend it there and reload" };
  }
  if (code === "name_taken") return { what: message, hint: hint ?? "rename one of the two, or leave one out" };
  // What a reload leaves has no place, and its message says it all.
  if (event === "reload") return { what: message, hint };
  if (code === "hook_slow") return { what: `${owner} is slow in ${event}`, why: message, hint };
  const place = findText(error, extensionPath);
  const toDo = place === undefined ? "pi doctor lists what is loaded" : "mend it there";
  return { what: `${owner} failed in ${event}`, why: placed(message, place), hint: hint ?? toDo };
}

function placed(message: string, place: string | undefined): string {
  return place === undefined || message.startsWith(place) ? message : `${message}\nat ${place}`;
}

/** The first frame of a stack that lies with the extension. */
function findText(error: Error | undefined, path: string | undefined): string | undefined {
  const place = path === undefined ? undefined : findPlace(error?.cause ?? error, path);
  return place && toText(place);
}

function isAlive({ state }: Agent["extensions"][number]): boolean {
  return state === "loaded" || state === "kept";
}

function keyOf(owner: string, message: string): string {
  return JSON.stringify([owner, message]);
}

function times(number: number): string {
  return number === 1 ? "once more in this run" : `${number} more times in this run`;
}
