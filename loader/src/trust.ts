/**
 * Who decides what of a project loads, in this order; the first that decides, does.
 *
 *   what the person says now ─► --no-approve, --trust, --approve, embedding code ─► a stored no ─► project_trust handlers ─► what was approved before
 *     ─► defaultProjectTrust ─► the question ─► undecided, which is no
 *
 * 1. `settleTrust` is the only maker of a `TrustGrant`; nothing of a project loads without one.
 * 2. A grant names the project and the digest of each resource that it lets load, and is good for those alone.
 * 3. Nothing that the project brings takes part (T4).
 * 4. What is as it was when it was approved loads without a question; the question is about the rest.
 */
import { AgentError, type MaybePromise, type Point } from "@pi-agent/kernel";
import type { AskTrust, TrustAnswer } from "./options.ts";
import { judge, type LoadPlan, type PlanItem, withTwin } from "./plan.ts";
import { allowsGrade, findChange, type Recalled, recall } from "./recall.ts";
import type { StoredTrust } from "./trust-store.ts";

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

/** Everything that was found · its texts · single resources · nothing beyond what loads without a decision. */
export type TrustDecision = "trusted" | "text" | "partial" | "untrusted";

declare const BRAND: unique symbol;
/** The right to load what `plan` marks as loaded, as it was when it was scanned. Only `settleTrust` makes one. */
export interface TrustGrant {
  readonly [BRAND]: true;
  /** The boundary's real path. */
  readonly key: string;
  readonly decision: TrustDecision;
  readonly decidedBy: "command" | "flag" | "code" | "record" | "extension" | "setting" | "prompt" | "nobody";
  readonly plan: LoadPlan;
  /** By id, of what may load. */
  readonly digests: ReadonlyMap<string, string>;
  /** It holds whatever the folder becomes: code that the plan does not name may be evaluated too. */
  readonly isFolderBound: boolean;
  /** ISO 8601. */
  readonly decidedAt: string;
  /** What was said in this very decision and is to be remembered. */
  readonly answer?: TrustAnswer;
}

/** What a decision is made from. */
export interface Evidence {
  /** What the person says now, in a command. */
  command?: TrustAnswer;
  approve?: boolean;
  /** The digest of the one plan that is trusted, for this process. */
  pin?: string;
  /** What embedding code says, in place of a flag. */
  answer?: TrustAnswer | AskTrust;
  stored?(): StoredTrust;
  /** What the `project_trust` handlers come to. */
  vote?(plan: LoadPlan): MaybePromise<Vote | undefined>;
  /** The person's `defaultProjectTrust`. */
  defaultTrust?: "ask" | "always" | "never";
  ask?: AskTrust;
  /** Another worktree of the same repository that a record is about. */
  findTwin?(plan: LoadPlan): LoadPlan["twin"];
  /** Gets what went wrong while asking; the answer then counts as not given. */
  onFault?(fault: unknown): void;
  signal?: AbortSignal;
}

export interface Vote {
  trusted: "yes" | "no";
  isRemembered: boolean;
}

type Said = Exclude<TrustDecision, "partial">;

interface Ruling extends Pick<TrustGrant, "decidedBy" | "answer"> {
  decision: Said;
  /** Why, worded to follow "held: ". */
  because: string;
  /** What earlier decisions say about single resources; it beats this one. */
  recalled?: ReadonlyMap<string, Recalled>;
  isFolderBound?: boolean;
}

const ANSWERS: Record<TrustAnswer, Said> = {
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
  const { decidedBy, answer, isFolderBound = answer === "folder" } = ruling;
  const decided = judged.items.filter((_item, index) => plan.items[index]?.verdict === "held");
  const decision = nameDecision(decided, ruling);
  const digests = new Map(granted.map(({ id, digest }) => [id, digest]));
  const decidedAt = new Date().toISOString();
  return issue({ key: plan.project, decision, decidedBy, decidedAt, plan: judged, digests, isFolderBound, answer });
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
  const { command, approve, pin, answer } = evidence;
  if (command !== undefined) return take(command, "command");
  if (approve === false) return { decision: "untrusted", decidedBy: "flag", because: "--no-approve" };
  if (pin === plan.digest) return { decision: "trusted", decidedBy: "flag", because: "--trust names this content" };
  if (pin !== undefined) return { decision: "untrusted", decidedBy: "flag", because: "--trust names another content" };
  if (approve === true) return { decision: "trusted", decidedBy: "flag", because: "--approve" };
  if (answer !== undefined) return take(await hear(answer, plan, evidence), "code");
  const held = plan.items.filter(({ verdict }) => verdict === "held");
  if (held.length === 0) return { decision: "untrusted", decidedBy: "nobody", because: "nothing to decide" };

  const stored = evidence.stored?.() ?? { approvals: [], notes: [] };
  if (stored.denial) return { decision: "untrusted", decidedBy: "record", because: `denied in ${stored.denial}` };
  const vote = await evidence.vote?.(plan);
  // A file that cannot be read may have said no: only a person says yes over that.
  if (vote && !(stored.isDamaged && vote.trusted === "yes")) return takeVote(vote);

  const recalled = recallAll(held, stored);
  if (recalled.size === held.length) return ruleFromMemory(recalled, stored);
  const ruling = await decideNew({ plan, evidence, stored, recalled });
  // Both are said of the whole project, whatever was said of parts of it.
  const isOfAll = ruling.answer === "never" || ruling.answer === "folder";
  return isOfAll ? ruling : { ...ruling, recalled };
}

/** Decides about what no record knows as it is now. */
async function decideNew(open: {
  plan: LoadPlan;
  evidence: Evidence;
  stored: StoredTrust;
  recalled: ReadonlyMap<string, Recalled>;
}): Promise<Ruling> {
  const { plan, evidence, stored, recalled } = open;
  const { defaultTrust = "ask", ask } = evidence;
  if (defaultTrust === "always" && !stored.isDamaged) {
    return { decision: "trusted", decidedBy: "setting", because: "defaultProjectTrust is always" };
  }
  if (defaultTrust === "never") {
    return { decision: "untrusted", decidedBy: "setting", because: "defaultProjectTrust is never" };
  }
  if (!ask) return { decision: "untrusted", decidedBy: "nobody", because: "nobody was there to ask" };
  const question = judge(plan, (item) => {
    const known = recalled.get(item.id);
    if (known === "loaded") return { verdict: known, reason: "approved before" };
    if (known === "held") return { verdict: "refused", reason: NO };
    return item.verdict === "held" ? { change: findChange(stored.approvals, item) } : undefined;
  });
  const twin = evidence.findTwin?.(plan);
  return take(await hear(ask, twin ? withTwin(question, twin) : question, evidence), "prompt");
}

const NO = "you said no to it";

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

const SAID: Record<TrustAnswer, string> = {
  content: "you trust this content",
  folder: "you trust this folder whatever it becomes",
  text: "you said text only",
  "not-now": "you said not now",
  never: "you said never",
};

function take(answer: TrustAnswer, decidedBy: "command" | "code" | "prompt"): Ruling {
  const because = decidedBy === "code" ? `the program said ${answer}` : SAID[answer];
  return { decision: ANSWERS[answer], decidedBy, because, answer };
}

function takeVote({ trusted, isRemembered }: Vote): Ruling {
  const isYes = trusted === "yes";
  return {
    decision: isYes ? "trusted" : "untrusted",
    decidedBy: "extension",
    because: isYes ? "an extension's yes" : "an extension of yours says no",
    ...(isRemembered && { answer: isYes ? "content" : "never" }),
  };
}

function recallAll(held: readonly PlanItem[], { approvals }: StoredTrust): Map<string, Recalled> {
  const recalled = new Map<string, Recalled>();
  for (const item of held) {
    const verdict = recall(approvals, item);
    if (verdict) recalled.set(item.id, verdict);
  }
  return recalled;
}

function ruleFromMemory(recalled: ReadonlyMap<string, Recalled>, { approvals }: StoredTrust): Ruling {
  const isTrusted = approvals.every((record) => record.decision === "trusted");
  const isFolderBound = isTrusted && approvals.some(({ bound }) => bound === "folder");
  return { decision: isTrusted ? "trusted" : "text", decidedBy: "record", because: NO, recalled, isFolderBound };
}

/** What a ruling comes to, where earlier decisions about single resources take part. */
function nameDecision(decided: readonly PlanItem[], { decision, recalled }: Ruling): TrustDecision {
  if (!recalled) return decision;
  const isLoaded = ({ verdict }: PlanItem) => verdict === "loaded";
  if (decided.every(isLoaded)) return "trusted";
  if (!decided.some(isLoaded)) return "untrusted";
  return decided.every((item) => isLoaded(item) === (item.grade === "text")) ? "text" : "partial";
}

function ruleOn(item: PlanItem, { decision, because, recalled }: Ruling): Partial<PlanItem> {
  const known = recalled?.get(item.id);
  if (known === "loaded") return { verdict: "loaded", reason: "approved before", allow: undefined };
  if (known === "held") return { reason: NO };
  if (decision === "untrusted" || !allowsGrade(decision, item.grade)) return { reason: because };
  return { verdict: "loaded", reason: because, allow: undefined };
}
