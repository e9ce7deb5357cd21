/** Words an answer about a project as what is to be remembered of it. */
import { join } from "node:path";
import type { TrustAnswer } from "./options.ts";
import { contentOf, type LoadPlan, type PlanItem } from "./plan.ts";
import type { TrustRecord } from "./trust-store.ts";
import type { TrustChange } from "./trust-writer.ts";

export interface Said {
  answer: TrustAnswer;
  /** With the verdicts that the answer came to. */
  plan: LoadPlan;
  decidedBy: string;
  below?: boolean;
  /** What is remembered so far. What it says of content that is not here now still holds. */
  before?: TrustRecord;
}

/** Words an answer about a whole project; `undefined` for `not-now`, which nobody has to remember. */
export function wordAnswer(said: Said): TrustChange | undefined {
  const { answer, plan, decidedBy, below = false } = said;
  if (answer === "not-now") return undefined;
  const key = plan.project;
  if (answer === "never") return { key, decision: "denied", bound: "folder", below, decidedBy, resources: {} };
  const items = plan.items.filter(isRemembered);
  const isText = answer === "text" && !items.some(({ verdict, grade }) => verdict === "loaded" && grade !== "text");
  const decision = isText ? "text" : "trusted";
  const bound = answer === "folder" ? "folder" : "content";
  return { key, decision, bound, below, decidedBy, ...enterItems(said, decision, items) };
}

/** Words an answer about one resource of a project; all else stays as it is remembered, but for a no to the whole. */
export function wordAnswerAbout(only: PlanItem, said: Said): TrustChange | undefined {
  const { answer, plan, decidedBy } = said;
  if (answer === "not-now") return undefined;
  const isYes = answer === "content" || answer === "folder" || (answer === "text" && only.grade === "text");
  const isDenied = said.before?.decision === "denied";
  // Where all is denied, a single no says nothing new; a single yes says nothing of the rest.
  if (isDenied && !isYes) return undefined;
  const before = isDenied ? undefined : said.before;
  const item: PlanItem = { ...only, verdict: isYes ? "loaded" : "held" };
  return {
    key: plan.project,
    decision: "trusted",
    bound: before?.bound ?? "content",
    below: before?.below ?? false,
    decidedBy,
    ...enterItems({ ...said, before }, "trusted", [item]),
  };
}

/** What was typed for one process is consent for that process; what was refused was never read. */
function isRemembered({ scope, digest }: PlanItem): boolean {
  return scope === "project" && digest !== "";
}

/** Enters resources over those that are remembered, and takes their bytes along, to show later what changed. */
function enterItems(
  { plan, before }: Said,
  decision: "trusted" | "text",
  items: readonly PlanItem[],
): Pick<TrustChange, "resources" | "contents"> {
  const resources = before ? keepResources(before, decision, plan) : {};
  const contents = new Map<string, Buffer>();
  for (const { id, kind, digest, members, verdict } of items) {
    resources[id] = { kind, digest, members, ...(verdict !== "loaded" && { held: true }) };
    for (const [path, member] of Object.entries(members)) {
      const bytes = contentOf(plan, join(plan.project, path));
      if (bytes) contents.set(member, bytes);
    }
  }
  return { resources, contents };
}

/** What is remembered means the same under another decision: code beside approved texts stays held. */
function keepResources(before: TrustRecord, decision: "trusted" | "text", plan: LoadPlan): TrustRecord["resources"] {
  if (before.decision === decision || decision === "text") return { ...before.resources };
  const texts = new Set(plan.items.flatMap(({ id, grade }) => (grade === "text" ? [id] : [])));
  return Object.fromEntries(
    Object.entries(before.resources).map(([id, each]) => [id, texts.has(id) ? each : { ...each, held: true }]),
  );
}
