/**
 * Who decides what of a project loads, in this order; the first that decides, does.
 *
 *   --approve, --no-approve, embedding code ─► a stored no ─► project_trust handlers ─► what was approved before
 *     ─► defaultProjectTrust ─► the question ─► undecided, which is no
 *
 * 1. `settleTrust` is the only maker of a `TrustGrant`; nothing of a project loads without one.
 * 2. A grant names the project and the digest of each resource that it lets load, and is good for those alone.
 * 3. Nothing that the project brings takes part (T4).
 */
import { AgentError, type MaybePromise, type Point } from "@pi-agent/kernel";
import type { AskTrust, TrustAnswer } from "./options.ts";
import { judge, type LoadPlan, type PlanItem } from "./plan.ts";
import { allowsGrade, recall, type StoredTrust } from "./trust-store.ts";

declare module "@pi-agent/kernel" {
  interface HookPoints {
    /** Asks user and `-e` extensions about a project before anything of it loads. Exact answers count, others do not. */
    project_trust: Point<
      "vote",
      { cwd: string; plan: LoadPlan },
      { trusted: "yes" | "no" | "undecided"; remember?: boolean }
    >;
  }
}

export type TrustDecision = "trusted" | "text" | "untrusted";

declare const BRAND: unique symbol;
/** The right to load what `plan` marks as loaded, as it was when it was scanned. Only `settleTrust` makes one. */
export interface TrustGrant {
  readonly [BRAND]: true;
  /** The boundary's real path. */
  readonly key: string;
  /** `trusted`: everything that was found may load; single resources may although the project as a whole is not. */
  readonly decision: TrustDecision;
  readonly decidedBy: "flag" | "code" | "record" | "extension" | "setting" | "prompt" | "nobody";
  readonly plan: LoadPlan;
  /** By id, of what may load. */
  readonly digests: ReadonlyMap<string, string>;
}

/** What a decision is made from. */
export interface Evidence {
  approve?: boolean;
  /** What embedding code says, in place of a flag. */
  answer?: TrustAnswer | AskTrust;
  stored?(): StoredTrust;
  /** What the `project_trust` handlers come to. */
  vote?(plan: LoadPlan): MaybePromise<"yes" | "no" | undefined>;
  /** The person's `defaultProjectTrust`. */
  defaultTrust?: "ask" | "always" | "never";
  ask?: AskTrust;
  /** Gets what went wrong while asking; the answer then counts as not given. */
  onFault?(fault: unknown): void;
  signal?: AbortSignal;
}

interface Ruling {
  decision: TrustDecision;
  decidedBy: TrustGrant["decidedBy"];
  /** Why, worded to follow "held: ". */
  because: string;
  /** Ids that load although the decision alone would not let them. */
  recalled?: ReadonlySet<string>;
}

const ANSWERS: Record<TrustAnswer, TrustDecision> = {
  content: "trusted",
  folder: "trusted",
  text: "text",
  "not-now": "untrusted",
  never: "untrusted",
};

const GRANTS = new WeakSet<TrustGrant>();

/** Decides about everything in the plan that is held. Undecided is no. */
export async function settleTrust(plan: LoadPlan, evidence: Evidence): Promise<TrustGrant> {
  const ruling = await decide(plan, evidence);
  const judged = judge(plan, (item) => (item.verdict === "held" ? ruleOn(item, ruling) : undefined));
  const granted = judged.items.filter(({ verdict }) => verdict === "loaded");
  const { decision, decidedBy } = ruling;
  const digests = new Map(granted.map(({ id, digest }) => [id, digest]));
  return issue({ key: plan.project, decision, decidedBy, plan: judged, digests });
}

/** Fails with `no_grant` for anything that `settleTrust` did not make for this project. */
export function assertGrant(grant: TrustGrant, key: string): void {
  if (GRANTS.has(grant) && grant.key === key) return;
  throw new AgentError("no_grant", `Nothing of ${key} may load: there is no decision about it.`, {
    hint: "Settle trust for this very project first, with settleTrust.",
  });
}

function issue(terms: Omit<TrustGrant, typeof BRAND>): TrustGrant {
  const grant = Object.freeze(terms) as TrustGrant;
  GRANTS.add(grant);
  return grant;
}

async function decide(plan: LoadPlan, evidence: Evidence): Promise<Ruling> {
  const { approve } = evidence;
  if (approve === true) return { decision: "trusted", decidedBy: "flag", because: "--approve" };
  if (approve === false) return { decision: "untrusted", decidedBy: "flag", because: "--no-approve" };
  if (evidence.answer !== undefined) return take(await hear(evidence.answer, plan, evidence), "code");
  const held = plan.items.filter(({ verdict }) => verdict === "held");
  if (held.length === 0) return { decision: "untrusted", decidedBy: "nobody", because: "nothing to decide" };

  const stored = evidence.stored?.() ?? { approvals: [], notes: [] };
  if (stored.denial) return { decision: "untrusted", decidedBy: "record", because: `denied in ${stored.denial}` };
  const vote = await evidence.vote?.(plan);
  if (vote === "yes") return { decision: "trusted", decidedBy: "extension", because: "an extension's yes" };
  if (vote === "no") return { decision: "untrusted", decidedBy: "extension", because: "an extension of yours says no" };

  const recalled = recallAll(held, stored);
  if (recalled.size === held.length) return ruleFromMemory(recalled, stored);
  return { ...(await decideNew(plan, evidence, recalled)), recalled: loadedIds(recalled) };
}

/** Decides about what no record knows as it is now. */
async function decideNew(
  plan: LoadPlan,
  evidence: Evidence,
  recalled: ReadonlyMap<string, "loaded" | "held">,
): Promise<Ruling> {
  const { defaultTrust = "ask", ask } = evidence;
  if (defaultTrust === "always") {
    return { decision: "trusted", decidedBy: "setting", because: "defaultProjectTrust is always" };
  }
  if (defaultTrust === "never") {
    return { decision: "untrusted", decidedBy: "setting", because: "defaultProjectTrust is never" };
  }
  if (!ask) return { decision: "untrusted", decidedBy: "nobody", because: "nobody was there to ask" };
  const open = judge(plan, ({ id }) => {
    const verdict = recalled.get(id);
    return verdict === "loaded" ? { verdict, reason: "approved before" } : undefined;
  });
  return take(await hear(ask, open, evidence), "prompt");
}

/** Gets an answer, and takes anything that is not exactly one for `not-now`. */
async function hear(from: TrustAnswer | AskTrust, plan: LoadPlan, evidence: Evidence): Promise<TrustAnswer> {
  if (typeof from !== "function") return toAnswer(from);
  try {
    return toAnswer(await from(plan, evidence.signal ?? new AbortController().signal));
  } catch (thrown) {
    evidence.onFault?.(thrown);
    return "not-now";
  }
}

function toAnswer(said: unknown): TrustAnswer {
  return typeof said === "string" && Object.hasOwn(ANSWERS, said) ? (said as TrustAnswer) : "not-now";
}

function take(answer: TrustAnswer, decidedBy: "code" | "prompt"): Ruling {
  const because = answer === "never" ? "you said never" : answer === "text" ? "you said text only" : "you said not now";
  return {
    decision: ANSWERS[answer],
    decidedBy,
    because: decidedBy === "code" ? `the program said ${answer}` : because,
  };
}

function recallAll(held: readonly PlanItem[], { approvals }: StoredTrust): Map<string, "loaded" | "held"> {
  const recalled = new Map<string, "loaded" | "held">();
  for (const item of held) {
    const verdicts = approvals.map((record) => recall(record, item));
    const verdict = verdicts.find((each) => each === "loaded") ?? verdicts.find((each) => each !== undefined);
    if (verdict) recalled.set(item.id, verdict);
  }
  return recalled;
}

function ruleFromMemory(recalled: ReadonlyMap<string, "loaded" | "held">, { approvals }: StoredTrust): Ruling {
  const isWhole = [...recalled.values()].every((verdict) => verdict === "loaded");
  const decision = isWhole && approvals.every((record) => record.decision === "trusted") ? "trusted" : "text";
  const because = decision === "trusted" ? "approved before" : "you approved its texts only";
  return { decision, decidedBy: "record", because, recalled: loadedIds(recalled) };
}

function loadedIds(recalled: ReadonlyMap<string, "loaded" | "held">): Set<string> {
  return new Set([...recalled].flatMap(([id, verdict]) => (verdict === "loaded" ? [id] : [])));
}

function ruleOn(item: PlanItem, { decision, because, recalled }: Ruling): Partial<PlanItem> {
  if (recalled?.has(item.id)) return { verdict: "loaded", reason: "approved before", allow: undefined };
  if (decision === "untrusted" || !allowsGrade(decision, item.grade)) return { reason: because };
  return { verdict: "loaded", reason: because, allow: undefined };
}
