/** What each claim says of an observed life: a list of what is wrong, empty where the claim holds. */
import type { Observation } from "./observation.ts";
import type { HandlerRecord } from "./watched-api.ts";

/** Called for every piece of an answer or every entry: what they cost, a person waits for. */
const HOT_HOOKS = new Set(["message_update", "tool_execution_update", "provider_stream_event", "transcript_append"]);
const HOT_BUDGET_MS = 1;
const BUDGET_MS = 200;
/** What the kernel says of a handler that it waited for in vain. */
const GIVEN_UP = new Set(["hook_late", "abandoned"]);
/** Fewer calls tell nothing about how a handler usually answers. */
const ENOUGH_CALLS = 10;

export function judgeHooks(observed: Observation): string[] {
  const failed = listHookFailures(observed).map(({ event, message }) => `Its handler for ${event} failed: ${message}`);
  return [...new Set(failed), ...observed.handlers.flatMap(judgeHandler)];
}

/** The failures in handlers of hooks and listeners of the bus; those that it hung in are for another claim. */
export function listHookFailures({ handlers, failures, hung }: Observation): Observation["failures"] {
  const hooks = new Set(handlers.map(({ hook }) => hook));
  return failures.filter(
    ({ event, code }) =>
      (hooks.has(event) || event.startsWith("events:")) && (hung === undefined || !GIVEN_UP.has(code)),
  );
}

function judgeHandler({ hook, calls, syncMs, waitMs, waited }: HandlerRecord): string[] {
  if (calls === 0) return [];
  const isHot = HOT_HOOKS.has(hook);
  const budgetMs = isHot ? HOT_BUDGET_MS : BUDGET_MS;
  const problems: string[] = [];
  for (const [what, times] of [
    ["holds everything up", syncMs],
    ["is waited for", waitMs],
  ] as const) {
    const ms = lowerQuartile(times);
    if (ms > budgetMs) problems.push(`Its handler for ${hook} ${what} for ${ms.toFixed(1)} ms; it has ${budgetMs} ms.`);
  }
  if (hook === "transcript_append" && waitMs.length > 0) {
    problems.push("Its handler for transcript_append answers a promise, which nobody waits for: only queue there.");
  } else if (isHot && waitMs.length >= ENOUGH_CALLS && waited === 0) {
    problems.push(`Its handler for ${hook} answers a promise and never waits: make it synchronous.`);
  }
  return problems;
}

/** Three calls of four took as long or longer: what a busy machine adds to some of them is left out. */
function lowerQuartile(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)] ?? 0;
}

export function judgeHeadless({ hung, output, started }: Observation): string[] {
  return [
    ...(hung === undefined ? [] : [hung]),
    ...new Set(output.map((text) => `It wrote to standard output: ${JSON.stringify(text.slice(0, 80))}`)),
    ...started.map((what) => `Its factory left running: ${what}. Start it in session_start, or at its first use.`),
  ];
}

export function judgeRejections({ strays }: Observation): string[] {
  return strays.map((thrown) => {
    const { code, message } = thrown as { code?: string; message?: string };
    return `Nobody caught: ${code === undefined ? "" : `${code}: `}${message ?? String(thrown)}`;
  });
}

export function judgeUnload({ left }: Observation): string[] {
  return [...new Set(left)].map((what) => `It left ${what}.`);
}
