/** Plans and memories for tests of what is said about them. */
import type { LoadPlan, PlanChange, PlanItem } from "@pi-agent/loader";
import type { Memory } from "../../src/trust/memory.ts";

/** An item with this id, held unless something else is given. */
export function item(grade: PlanItem["grade"], id: string, more: Partial<PlanItem> = {}): PlanItem {
  const kind = id.slice(0, id.indexOf(":"));
  return {
    id,
    kind,
    path: `/their/project/${id.slice(kind.length + 1)}`,
    source: ".pi",
    scope: "project",
    grade,
    digest: `sha256-${id}`,
    members: {},
    verdict: "held",
    reason: "waits for your answer",
    uncovered: [],
    ...more,
  };
}

/** A plan of a project that is nowhere. */
export function plan(items: readonly PlanItem[], more: Partial<LoadPlan> = {}): LoadPlan {
  const project = "/their/project";
  return { version: 1, project, cwd: project, digest: "sha256-all", items, opened: [], ...more };
}

/** A memory of nothing but what is given. */
export function memory(more: { notes?: string[]; changes?: Record<string, PlanChange> } = {}): Memory {
  return {
    notes: more.notes ?? [],
    changeOf: ({ id }) => more.changes?.[id],
    versionsOf: () => ({ before: undefined, now: undefined }),
  };
}
