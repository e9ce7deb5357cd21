/** What the person's own files know about the project of a plan, and about its resources as they were approved. */
import { join } from "node:path";
import {
  contentOf,
  findChange,
  findPlaces,
  type LoadPlan,
  type PlanChange,
  type PlanItem,
  readKept,
  readTrust,
} from "@pi-agent/loader";

/** A member of a resource at some time; `lost` where its bytes were not kept. */
export type Version = { bytes: Buffer } | { link: string } | "lost";

export interface Memory {
  /** What else a person should know before they answer. */
  notes: readonly string[];
  /** What became of a resource since it was approved; `undefined` where nothing did, or nothing was approved before. */
  changeOf: (item: PlanItem) => PlanChange | undefined;
  /** A member as it was approved, and as the plan has it; `undefined` where it was not there. */
  versionsOf: (item: PlanItem, path: string) => { before: Version | undefined; now: Version | undefined };
}

const LINK = "link ";

/** Reads what is remembered. Nothing of the project is opened: what a plan holds was read when it was made. */
export function recallProject(plan: LoadPlan): Memory {
  const { agentDir } = findPlaces({ cwd: plan.cwd, env: process.env });
  const { approvals, notes } = readTrust(agentDir, plan.project);
  const latest = approvals.toSorted((a, b) => b.decidedAt.localeCompare(a.decidedAt));
  const known = ({ id }: PlanItem) =>
    latest.map(({ resources }) => (Object.hasOwn(resources, id) ? resources[id] : undefined)).find(Boolean);
  return {
    notes: notes.map(({ path, message }) => `${path}: ${message}.`),
    changeOf: (item) => {
      const before = known(item);
      // What loads although no record knows it was let load in another way.
      if (before?.digest === item.digest || (!before && item.verdict !== "held")) return undefined;
      return item.change ?? findChange(approvals, item);
    },
    versionsOf: (item, path) => ({
      before: toVersion(known(item)?.members[path], (digest) => readKept(agentDir, digest)),
      now: toVersion(item.members[path], () => contentOf(plan, join(plan.project, path))),
    }),
  };
}

function toVersion(member: string | undefined, read: (digest: string) => Buffer | undefined): Version | undefined {
  if (member === undefined) return undefined;
  if (member.startsWith(LINK)) return { link: member.slice(LINK.length) };
  const bytes = read(member);
  return bytes ? { bytes } : "lost";
}
