/**
 * The load plan: everything that a project would load, as data. The question shows it, `pi trust show` prints it, a
 * grant is bound to it.
 */
import { createHash } from "node:crypto";
import { relative, sep } from "node:path";

/** What a resource can do: instruct the model, change settings, run code. */
export type Grade = "text" | "settings" | "executable";
export type Verdict = "loaded" | "held" | "refused";

export interface PlanItem {
  /** Unique in the plan and the same at every start: the kind, and the path below the boundary. */
  id: string;
  kind: string;
  path: string;
  /** Where it was found: `.pi`, `.agents`, `settings`, `manifest`, `-e` … */
  source: string;
  scope: "project" | "flag";
  grade: Grade;
  /** `sha256-<hex>` over all members; empty for what was not read. */
  digest: string;
  /** Each file that belongs to it, below the boundary, with the digest of its bytes, or a link with its target. */
  members: Readonly<Record<string, string>>;
  verdict: Verdict;
  reason: string;
  /** What to do about a refusal, where something helps. */
  hint?: string;
  /** The command that would let it load. */
  allow?: string;
  /** What loading it may reach that no digest covers, worded to follow "not covered: "; empty when all is. */
  uncovered: readonly string[];
  /** Files of a skill that the model may run, below the boundary. */
  mayRun?: readonly string[];
  /** Against what was approved before; absent where nothing was, or nothing changed. */
  change?: PlanChange;
  /** Services that an extension needs first, each with the package that provides it. */
  requires?: Readonly<Record<string, string>>;
}

/** Members by path below the boundary. A resource that no record knows is `isNew`. */
export interface PlanChange {
  isNew: boolean;
  added: readonly string[];
  removed: readonly string[];
  changed: readonly string[];
}

export interface LoadPlan {
  version: 1;
  /** The boundary's real path. */
  project: string;
  cwd: string;
  /** Over the digests of all items: names exactly this content. */
  digest: string;
  items: readonly PlanItem[];
  /** Another worktree of the same repository that was decided about; `isSame`: all of this was approved there as it is. */
  twin?: { project: string; isSame: boolean };
  /** Every project file that was opened to make this plan, below the boundary. */
  opened: readonly string[];
}

/** A file or link that belongs to a resource. */
export interface Member {
  path: string;
  type: "file" | "executable" | "link";
  /** A file's bytes; a link's target. */
  content: Buffer;
}

const CONTENTS = new WeakMap<LoadPlan, ReadonlyMap<string, Buffer>>();

/** Puts a plan together. `contents` are the bytes that its digests were made of, by path. */
export function createPlan(
  where: { project: string; cwd: string },
  items: readonly PlanItem[],
  contents: ReadonlyMap<string, Buffer>,
): LoadPlan {
  const opened = [...contents.keys()].map((path) => belowBoundary(where.project, path)).sort();
  return freeze({ version: 1, ...where, digest: digestItems(items), items, opened }, contents);
}

/** Makes a copy of a plan with other verdicts. */
export function judge(plan: LoadPlan, verdict: (item: PlanItem) => Partial<PlanItem> | undefined): LoadPlan {
  const items = plan.items.map((item) => ({ ...item, ...verdict(item) }));
  return freeze({ ...plan, items }, CONTENTS.get(plan) ?? new Map());
}

/** Makes a copy of a plan that names the project's twin. */
export function withTwin(plan: LoadPlan, twin: NonNullable<LoadPlan["twin"]>): LoadPlan {
  return freeze({ ...plan, twin: Object.freeze(twin) }, CONTENTS.get(plan) ?? new Map());
}

/** A plan is shown to extensions: none of them can change it. */
function freeze(plan: LoadPlan, contents: ReadonlyMap<string, Buffer>): LoadPlan {
  for (const item of plan.items) {
    Object.freeze(item.members);
    Object.freeze(item);
  }
  Object.freeze(plan.items);
  Object.freeze(plan.opened);
  CONTENTS.set(plan, contents);
  return Object.freeze(plan);
}

/** The bytes of a file as they were when the plan was made. */
export function contentOf(plan: LoadPlan, path: string): Buffer | undefined {
  return CONTENTS.get(plan)?.get(path);
}

/** Makes the id of a resource. */
export function itemId(kind: string, boundary: string, path: string): string {
  return `${kind}:${belowBoundary(boundary, path)}`;
}

/** Spells a path below the boundary the same way on every system. */
export function belowBoundary(boundary: string, path: string): string {
  return relative(boundary, path).split(sep).join("/") || ".";
}

/** The digest of a file's bytes. */
export function digestBytes(bytes: Uint8Array): string {
  return `sha256-${createHash("sha256").update(bytes).digest("hex")}`;
}

/** The digest of a resource: every part framed by its length, in an order that no locale changes. */
export function digestMembers(boundary: string, members: readonly Member[]): string {
  const hash = createHash("sha256");
  const named = members.map((member) => ({ name: belowBoundary(boundary, member.path), member }));
  named.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
  for (const { name, member } of named) {
    for (const part of [Buffer.from(name), Buffer.from(member.type), member.content]) {
      const length = Buffer.alloc(8);
      length.writeBigUInt64BE(BigInt(part.length));
      hash.update(length).update(part);
    }
  }
  return `sha256-${hash.digest("hex")}`;
}

function digestItems(items: readonly PlanItem[]): string {
  const lines = items.map(({ id, digest }) => JSON.stringify([id, digest])).sort();
  return digestBytes(Buffer.from(lines.join("\n")));
}
