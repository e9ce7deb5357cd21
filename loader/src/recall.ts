/** What earlier decisions say about a resource as it is now. */
import type { Grade, PlanChange, PlanItem } from "./plan.ts";
import type { TrustRecord } from "./trust-store.ts";

export type Recalled = "loaded" | "held";

/** What the first record says that knows it as it is, nearest first: a no below holds (T1). */
export function recall(records: readonly TrustRecord[], item: PlanItem): Recalled | undefined {
  return records.map((record) => recallFrom(record, item)).find((each) => each !== undefined);
}

function recallFrom(record: TrustRecord, item: PlanItem): Recalled | undefined {
  const known = findKnown(record, item);
  const isSame = known !== undefined && item.digest !== "" && known.digest === item.digest;
  if (record.bound === "content" && !isSame) return undefined;
  const isAllowed = record.decision !== "denied" && allowsGrade(record.decision, item.grade);
  return isAllowed && known?.held !== true ? "loaded" : "held";
}

/** Tells what an answer lets load: `text` no more than words for the model. */
export function allowsGrade(decision: "trusted" | "text", grade: Grade): boolean {
  return decision === "trusted" || grade === "text";
}

/** Compares a resource with the latest record that knows it; `undefined` where there is no record at all. */
export function findChange(records: readonly TrustRecord[], item: PlanItem): PlanChange | undefined {
  if (records.length === 0) return undefined;
  const latest = records.toSorted((a, b) => b.decidedAt.localeCompare(a.decidedAt));
  const known = latest.map((record) => findKnown(record, item)).find((each) => each !== undefined);
  if (!known) return { isNew: true, added: [], removed: [], changed: [] };
  const [before, now] = [new Map(Object.entries(known.members)), new Map(Object.entries(item.members))];
  const names = (from: ReadonlyMap<string, string>) => [...from.keys()].sort();
  return {
    isNew: false,
    added: names(now).filter((name) => !before.has(name)),
    removed: names(before).filter((name) => !now.has(name)),
    changed: names(now).filter((name) => before.has(name) && before.get(name) !== now.get(name)),
  };
}

function findKnown({ resources }: TrustRecord, { id, kind }: PlanItem): TrustRecord["resources"][string] | undefined {
  const known = Object.hasOwn(resources, id) ? resources[id] : undefined;
  return known?.kind === kind ? known : undefined;
}
