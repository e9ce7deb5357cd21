import { isAgentError, type Owner } from "@pi-agent/kernel";
import { anonymous, openInstance } from "./instance.ts";
import { listHookFailures } from "./judges.ts";
import type { Observation } from "./observation.ts";
import type { Subject } from "./options.ts";
import { ResourceWatch } from "./resource-watch.ts";
import { watchOutput } from "./standard-output.ts";
import { catchStrayErrors } from "./stray-errors.ts";

/** Tells whether a factory needs a host or a network, and whether what it says went wrong can be understood. */
export async function judgeFactory(subject: Subject, first: Observation): Promise<string[]> {
  // What goes wrong in a handler is for another claim, and mostly a mistake that nobody meant to tell.
  const inHooks = new Set(listHookFailures(first).map(({ message }) => message));
  const problems = first.errors
    .filter(({ message }) => !inHooks.has(anonymous(first.owner, message)))
    .flatMap((error) => judgeError(error, first.owner));
  const { error } = first.report;
  if (error) return [`It cannot be loaded: ${error.message}`, ...judgeError(error, first.owner), ...problems];
  if (first.networkUses > 0)
    problems.push("Its factory reaches for the network: do it in session_start, or at first use.");
  const bare = await loadOnce(subject, true);
  // An extension that cannot be loaded twice at all fails for another reason than the missing host.
  if (bare.error && !(await loadOnce(subject, false)).error) {
    problems.push(`It cannot be loaded without a host: ${bare.error.message}`);
  }
  return [...new Set(problems)];
}

async function loadOnce(subject: Subject, isBare: boolean) {
  using _strays = catchStrayErrors();
  using watch = new ResourceWatch();
  using _output = watchOutput(() => watch.isInside);
  return await watch.run(async () => {
    await using instance = await openInstance(subject, { isBare });
    return instance.report;
  });
}

/** What happened and why, what to do, and whose it is. */
function judgeError(thrown: unknown, subject: Owner): string[] {
  const about = `Its error "${String((thrown as { message?: unknown }).message ?? thrown)}"`;
  if (!isAgentError(thrown)) return [`${about} has no parts: make it with pi.error(code, message, { hint }).`];
  const { code, hint, owner } = thrown as { code: string; hint?: string; owner?: string };
  const problems: string[] = [];
  // The kernel gives this code to what it does not know.
  if (code === "extension_failed")
    problems.push(`${about} has no code: make it with pi.error(code, message, { hint }).`);
  else if (hint === undefined) problems.push(`${about} does not say what to do: give pi.error a hint.`);
  if (owner !== subject.name) problems.push(`${about} names no owner.`);
  return problems;
}
