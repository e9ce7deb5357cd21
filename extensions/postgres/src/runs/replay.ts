import { setTimeout as sleep } from "node:timers/promises";
import type { AgentEvent, CliIo, Mode } from "@pi-agent/kernel";
import type { RunsArguments } from "./arguments.ts";
import { toEvents } from "./events.ts";
import { runsError } from "./problem.ts";
import { findRun, readSteps } from "./queries.ts";
import type { RunsSource } from "./source.ts";
import type { TimedEvent } from "./timed-event.ts";

/** The mode that a person reads. */
const TEXT = "text";

/** Plays a run once more, in a registered mode; answers the exit code. Fails with `no_replay`. */
export async function replay(source: RunsSource, { id, flags }: RunsArguments, io: CliIo): Promise<number> {
  const run = await findRun(source, id);
  const steps = await readSteps(source, run.id);
  const mode = findMode(io, flags.get("mode"));
  const speed = Number(flags.get("speed") ?? 1);
  await mode.replay(pace(toEvents(run, steps, { isStreamed: speed > 0 }), { speed, signal: io.signal }));
  return 0;
}

type Replaying = Mode & Required<Pick<Mode, "replay">>;

function findMode({ agent, host }: CliIo, asked: string | undefined): Replaying {
  const modes = agent.registry("mode");
  // `--mode` is a flag of the command's own and reaches us as the host's mode.
  const wanted = asked ?? host.mode;
  for (const name of asked === undefined ? [wanted, TEXT] : [wanted]) {
    const mode = modes.get(name)?.value;
    if (canReplay(mode)) return mode;
  }
  const able = [...modes].filter(([, { value }]) => canReplay(value)).map(([name]) => name);
  const hint = able.length === 0 ? "pi runs show shows the steps." : `Name one of: --mode ${able.join(", --mode ")}.`;
  throw runsError("no_replay", `The mode ${wanted} cannot replay a run.`, hint);
}

function canReplay(mode: Mode | undefined): mode is Replaying {
  return mode?.replay !== undefined;
}

/** Gives out events when they are due: at their own time divided by the speed; at speed 0 at once. Ends on an abort. */
async function* pace(
  events: Iterable<TimedEvent>,
  { speed, signal }: { speed: number; signal: AbortSignal },
): AsyncGenerator<AgentEvent> {
  const began = performance.now();
  let first: number | undefined;
  for (const { atMs, event } of events) {
    first ??= atMs;
    const dueMs = speed === 0 ? 0 : (atMs - first) / speed - (performance.now() - began);
    if (dueMs > 0) await sleep(dueMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    yield event;
  }
}
