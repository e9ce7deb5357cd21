import type { Extension } from "@pi-agent/kernel";
import { judgeAbort } from "./abort-scenario.ts";
import { judgeFactory } from "./factory-scenario.ts";
import { judgeRegistered } from "./judge-registered.ts";
import { judgeHeadless, judgeHooks, judgeRejections, judgeUnload } from "./judges.ts";
import { type Observation, observe } from "./observation.ts";
import type { ConformanceOptions, Subject } from "./options.ts";
import { judgeRestart } from "./restart-scenario.ts";

export type ClaimName = "factory" | "schema" | "hooks" | "headless" | "abort" | "rejections" | "unload" | "restart";

/** What every extension owes to its host, and the check that holds one to it. */
export interface ConformanceClaim {
  name: ClaimName;
  /** The claim in plain words. */
  claim: string;
  /** Fails with everything that breaks the claim. */
  check: () => Promise<void>;
}

type Judge = (subject: Subject, first: Observation) => string[] | Promise<string[]>;

/** A claim that an extension cannot be tried for, because it does not load, is left to those that say so. */
const CLAIMS: Record<ClaimName, { claim: string; judge: Judge; isWithoutLoading?: boolean }> = {
  factory: {
    claim:
      "it loads without a host and without the network, and its errors say what happened, what to do and whose they are",
    judge: judgeFactory,
    isWithoutLoading: true,
  },
  schema: {
    claim: "what it registers has a sound name, a description and a schema that can be used",
    judge: ({ extension }, first) => judgeRegistered(first, extension),
  },
  hooks: { claim: "its hook handlers are quick and do not fail", judge: (_subject, first) => judgeHooks(first) },
  headless: {
    claim: "where nobody is, it does not hang, leaves standard output alone, and its factory starts nothing",
    judge: (_subject, first) => judgeHeadless(first),
  },
  abort: { claim: "each of its tools ends when it is aborted, and does nothing afterwards", judge: judgeAbort },
  rejections: { claim: "no error of it is left uncaught", judge: (_subject, first) => judgeRejections(first) },
  unload: { claim: "unloading it leaves nothing behind", judge: (_subject, first) => judgeUnload(first) },
  restart: { claim: "it can be loaded again, beside itself, and be taken back twice", judge: judgeRestart },
};

/** What is looked at belongs to the whole process, so checks wait for each other. */
let turn: Promise<unknown> = Promise.resolve();

/** Lists what an extension owes to its host, each claim with its check, for any test runner or none. */
export function conformanceClaims(extension: Extension, options: ConformanceOptions = {}): ConformanceClaim[] {
  const subject: Subject = { extension, given: options };
  let observed: Promise<Observation> | undefined;
  return Object.entries(CLAIMS).map(([name, { claim, judge, isWithoutLoading }]) => ({
    name: name as ClaimName,
    claim,
    check() {
      const mine = turn.then(async () => {
        observed ??= observe(subject);
        const first = await observed;
        const problems = first.report.error && !isWithoutLoading ? [] : await judge(subject, first);
        if (problems.length > 0) throw new Error(`Not so: ${claim}.\n- ${problems.join("\n- ")}`);
      });
      turn = mine.catch(() => {});
      return mine;
    },
  }));
}
