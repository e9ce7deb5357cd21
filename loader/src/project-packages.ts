/**
 * What a project's settings and lock file say about packages, as resources of the load plan.
 *
 *   a source to install ─► one resource; the digest of its lock entry holds for all of its files
 *   a folder or file    ─► its extensions and texts, as they lie in the project
 */
import { basename, dirname, join } from "node:path";
import type { Json, JsonObject } from "@pi-agent/kernel";
import type { Found } from "./discover.ts";
import { type FileView, Refusal } from "./file-view.ts";
import { isJsonObject } from "./json-check.ts";
import type { Declared, Filters, Lock, LockedPackage } from "./packages/index.ts";
import { findWayOut, type Places } from "./places.ts";
import { digestBytes, type PlanItem } from "./plan.ts";
import { toPrintable } from "./printable.ts";
import type { Claim } from "./scan.ts";

/** The kind of a package in the plan; its id is the kind and the package's identity. */
export const PACKAGE = "package";
/** The settings that declare packages. */
export const PACKAGE_KEYS: ReadonlySet<string> = new Set(["packages", "piAgent.packages"]);

const KINDS = { extensions: "extension", skills: "skill", prompts: "prompt", themes: "theme" } as const;

/** The lock file of the settings in a folder. */
export function lockIn(folder: string): string {
  return join(folder, "pi.lock.json");
}

/** Tells whether settings declare any package. */
export function declaresPackages({ packages, piAgent }: JsonObject): boolean {
  const isFilled = (list: Json | undefined) => Array.isArray(list) && list.length > 0;
  return isFilled(packages) || (isJsonObject(piAgent) && isFilled(piAgent.packages));
}

/** Where packages are looked for: the folder of the settings, and what it is to the project. */
interface Place {
  folder: string;
  source: string;
  view: FileView;
  places: Pick<Places, "boundary" | "home">;
}

/** A plan that is being made. */
interface Draft {
  add(found: Found, claim: Claim): void;
  enter(item: PlanItem): void;
}

/** Enters what settings declare into a plan. */
export async function planPackages(values: JsonObject, place: Place, plan: Draft): Promise<void> {
  const { toDeclared } = await import("./packages/index.ts");
  const { declared, faults } = toDeclared(values, { folder: place.folder, home: place.places.home });
  const lock = await readLockFrom(place);
  for (const each of declared) {
    if (each.source.kind === "local")
      await planFolder({ filters: each.filters, identity: each.source.identity }, each.source.path, { place, plan });
    else plan.enter(toItem(each, place, lock));
  }
  for (const { text, error } of faults) {
    plan.enter(refuse(`${PACKAGE}:${toPrintable(text)}`, place, { reason: `cannot be used: ${error.message}` }));
  }
}

/** Why no package can be looked up, where the lock file cannot be used. */
type ReadLock = Lock | { reason: string };

async function readLockFrom({ view, folder }: Place): Promise<ReadLock> {
  const path = lockIn(folder);
  if (view.kindOf(path) === "missing") return new Map();
  const { parseLock } = await import("./packages/index.ts");
  try {
    return parseLock(view.read(path));
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    return { reason: `has a lock file that ${thrown instanceof Refusal ? why : `cannot be used: ${why}`}` };
  }
}

function toItem({ source, text, filters, options }: Declared, place: Place, lock: ReadLock): PlanItem {
  const id = `${PACKAGE}:${source.identity}`;
  if ("reason" in lock) return refuse(id, place, lock);
  // Then it says which resources of the person's own package are on, and brings none.
  const isDelta = filters.autoload === false;
  const locked = lock.get(source.kind === "tarball" ? `tarball:${text}` : source.identity);
  if (!locked && !isDelta)
    return refuse(id, place, { reason: "is declared and not locked", hint: "Run: pi install -l" });
  const digest = digestBytes(Buffer.from(JSON.stringify([text, filters, options ?? null, locked ?? null])));
  return {
    ...toKnown(id, place),
    digest,
    members: { [locked ? wordLocked(locked) : "what of your own is on"]: digest },
    uncovered: (locked?.scripts ?? []).map((name) => `what scripts of ${toPrintable(name)} made when it was installed`),
    verdict: "held",
    reason: "waits for your answer",
    allow: "pi trust yes",
  };
}

/** What is another one when another version is locked. */
function wordLocked({ name, version, commit }: LockedPackage): string {
  return `${name}@${version ?? commit ?? "unknown"}`;
}

function refuse(id: string, place: Place, { reason, hint }: { reason: string; hint?: string }): PlanItem {
  const nothing = { digest: "", members: {}, uncovered: [], verdict: "refused" } as const;
  return { ...toKnown(id, place), ...nothing, reason: toPrintable(reason), ...(hint !== undefined && { hint }) };
}

function toKnown(id: string, { folder, source }: Place) {
  const path = join(folder, "settings.json");
  return { id, kind: PACKAGE, path, source, scope: "project", grade: "executable" } as const;
}

/** Enters what a folder or file of the project brings. */
export async function planFolder(
  { filters, identity }: { filters: Filters; identity: string },
  root: string,
  { place, plan }: { place: Place; plan: Draft },
): Promise<void> {
  const { findContents, RESOURCE_LISTS, select } = await import("./packages/index.ts");
  const { view, places } = place;
  const isThere = view.kindOf(root) !== "missing";
  const refusal = findWayOut(places.boundary, root) ?? (isThere ? undefined : "is declared and not there");
  if (refusal !== undefined) return plan.enter(refuse(`${PACKAGE}:${identity}`, place, { reason: refusal }));
  const isFolder = view.kindOf(root) === "folder";
  const base = isFolder ? root : dirname(root);
  const contents = await findContents(root, view);
  const selection = select(contents, filters);
  for (const list of RESOURCE_LISTS) {
    const claim = {
      kind: KINDS[list],
      grade: list === "extensions" ? "executable" : "text",
      source: "settings",
    } as const;
    for (const { path, requires } of selection[list].filter(({ isOn }) => isOn)) {
      const file = join(base, path);
      const whole = list === "extensions" ? root : basename(file) === "SKILL.md" ? dirname(file) : file;
      plan.add({ path: file, root: whole, requires }, claim);
    }
  }
  for (const { path, reason } of contents.refused) {
    plan.add(
      { path: join(base, path), root, refusal: reason },
      { kind: PACKAGE, grade: "executable", source: "settings" },
    );
  }
}
