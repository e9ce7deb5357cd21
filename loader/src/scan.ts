/**
 * Looks at what a project would load, without executing or obeying any of it.
 *
 *   .pi of the working directory, else of the boundary ─┐
 *   .agents/skills and context files up to the boundary ├─► found ─► members read once ─► digests ─► load plan
 *   what the person typed or linked inside the boundary ┘
 *
 * Regular files only, below limits; everything that cannot be accepted is in the plan as refused, with its reason (T5).
 */
import { join, relative } from "node:path";
import type { JsonObject, Registered } from "@pi-agent/kernel";
import { ClosureReader } from "./closure.ts";
import { findContextFile, MAX_TEXT_BYTES } from "./context-files.ts";
import { dropSwitchedOff, type Found, type FoundKind, find, findSkills } from "./discover.ts";
import { ProjectView, Refusal, type ScanLimits } from "./file-view.ts";
import { MAX_PATH } from "./manifest.ts";
import { findScripts, readMembers, toText } from "./members.ts";
import { MAX_PATTERNS } from "./pattern.ts";
import { findWayOut, foldersUpTo, isInside, lookAt, type Places, resolveFrom } from "./places.ts";
import {
  belowBoundary,
  createPlan,
  digestMembers,
  type Grade,
  itemId,
  type LoadPlan,
  type Member,
  type PlanItem,
  type Verdict,
} from "./plan.ts";
import { toPrintable } from "./printable.ts";
import { declaresPackages, PACKAGE_KEYS, planFolder, planPackages } from "./project-packages.ts";
import type { SettingsStore } from "./settings.ts";
import { MAX_POINTER_BYTES } from "./worktree.ts";

export interface ScanInput {
  places: Places;
  /** Reads settings as data. */
  settings: Pick<SettingsStore, "inspectProject">;
  /** Real paths inside the boundary, of extensions that the person typed or has a link to among their own. */
  inside?: readonly { path: string; source: string; isTyped: boolean }[];
  /** Nothing of the project counts but what was typed, and context files. */
  isPicked?: boolean;
  kinds?: ReadonlyMap<string, Registered<"resource-kind">>;
  contextFiles?: "always" | "trusted" | "never";
  limits?: ScanLimits;
}

export interface Claim {
  kind: string;
  grade: Grade;
  source: string;
  scope?: PlanItem["scope"];
  verdict?: Verdict;
  reason?: string;
}

/** What was read of a resource. */
type Read = Pick<PlanItem, "uncovered" | "mayRun"> & { members: readonly Member[] };

// What data can have the host run.
const NAMED = "programs and files that it names";

const FOLDERS: readonly { kind: FoundKind; name: string; grade: Grade }[] = [
  { kind: "extension", name: "extensions", grade: "executable" },
  { kind: "agent", name: "agents", grade: "executable" },
  { kind: "skill", name: "skills", grade: "text" },
  { kind: "prompt", name: "prompts", grade: "text" },
  { kind: "theme", name: "themes", grade: "text" },
];
const FILES = [
  { kind: "system-prompt", name: "SYSTEM.md" },
  { kind: "append-system-prompt", name: "APPEND_SYSTEM.md" },
];

/** Makes the load plan of a project. Nothing in it is decided yet but what needs no decision. */
export async function makePlan(input: ScanInput): Promise<LoadPlan> {
  const scan = new Scan(input);
  for (const each of input.inside ?? []) await scan.addInside(each);
  if (!input.isPicked) {
    await scan.addConfig();
    await scan.addAgentsSkills();
  }
  scan.addContextFiles();
  return scan.finish();
}

class Scan {
  private readonly input: ScanInput;
  private readonly view: ProjectView;
  private readonly closures: ClosureReader;
  private readonly items = new Map<string, PlanItem>();

  constructor(input: ScanInput) {
    this.input = input;
    this.view = new ProjectView(input.limits);
    this.closures = new ClosureReader(this.view, input.places.boundary);
  }

  /** Reads what belongs to a resource and enters it; the first claim to a path keeps it. */
  add(found: Found, claim: Claim): void {
    const { boundary } = this.input.places;
    const id = itemId(claim.kind, boundary, found.path);
    if (this.items.has(id)) return;
    const { kind, grade, source, scope = "project", verdict = "held", reason = "waits for your answer" } = claim;
    const { path, requires } = found;
    const read = this.readFound(found, claim);
    const unread = { digest: "", members: {}, uncovered: [], ...(requires && { requires }) };
    const item: PlanItem = { id, kind, path, source, scope, grade, verdict, reason, ...unread };
    if ("reason" in read) this.items.set(id, { ...item, verdict: "refused", ...read });
    else {
      const { members: all, ...more } = read;
      const members = Object.fromEntries(all.map((member) => [belowBoundary(boundary, member.path), toText(member)]));
      const allow = verdict === "held" ? { allow: "pi trust yes" } : {};
      this.items.set(id, { ...item, digest: digestMembers(boundary, all), members, ...more, ...allow });
    }
  }

  /** Enters a resource that is made already. */
  enter(item: PlanItem): void {
    if (!this.items.has(item.id)) this.items.set(item.id, item);
  }

  async addInside({ path, source, isTyped }: { path: string; source: string; isTyped: boolean }): Promise<void> {
    const typed: Partial<Claim> = { scope: "flag", verdict: "loaded", reason: "you typed its path" };
    const found = await find("extension", this.view, path);
    if (found.length === 0 && !isTyped) {
      const place = { folder: path, source, view: this.view, places: this.input.places };
      return planFolder({ filters: {}, identity: `local:${path}` }, path, { place, plan: this });
    }
    if (found.length === 0) found.push({ path, root: path, refusal: "holds no extension" });
    this.addAll(found, { kind: "extension", grade: "executable", source, ...(isTyped && typed) });
  }

  async addConfig(): Promise<void> {
    const { cwd, boundary, foreignAgentDir } = this.input.places;
    const folder = [cwd, boundary].map((each) => join(each, ".pi")).find(lookAt);
    if (folder) await this.addConfigFolder(folder, ".pi");
    if (foreignAgentDir && foreignAgentDir !== folder) await this.addConfigFolder(foreignAgentDir, "agent directory");
  }

  async addAgentsSkills(): Promise<void> {
    const { cwd, boundary, homeSkills } = this.input.places;
    for (const folder of foldersUpTo(cwd, boundary)) {
      const agents = join(folder, ".agents");
      const skills = join(agents, "skills");
      if (skills === homeSkills || this.view.kindOf(agents) === "missing") continue;
      this.addAll(await this.findBelow(agents, skills), { kind: "skill", grade: "text", source: ".agents" });
    }
  }

  addContextFiles(): void {
    const { cwd, boundary } = this.input.places;
    const { contextFiles = "always" } = this.input;
    if (contextFiles === "never") return;
    const loads: Partial<Claim> = { verdict: "loaded", reason: "context files load by default" };
    const claim: Claim = { kind: "context-file", grade: "text", source: "project" };
    for (const folder of foldersUpTo(cwd, boundary).toReversed()) {
      this.addAll(findContextFile(this.view, folder), { ...claim, ...(contextFiles === "always" && loads) });
    }
  }

  finish(): LoadPlan {
    const { boundary, cwd } = this.input.places;
    if ([...this.items.values()].some(({ verdict }) => verdict === "held")) this.readPointer(join(boundary, ".git"));
    return createPlan({ project: boundary, cwd }, [...this.items.values()], this.view.contents);
  }

  /** Of a linked worktree: the question says which repository it belongs to. */
  private readPointer(git: string): void {
    if (this.view.kindOf(git) !== "file") return;
    try {
      this.view.read(git, MAX_POINTER_BYTES);
    } catch (thrown) {
      // What is no short text is no pointer.
      if (!(thrown instanceof Refusal)) throw thrown;
    }
  }

  private addAll(found: readonly Found[], claim: Claim): void {
    for (const each of found) this.add(each, claim);
  }

  private async findBelow(agents: string, skills: string): Promise<Found[]> {
    if (this.view.kindOf(agents) === "folder") return findSkills(this.view, skills, false);
    return [{ path: agents, root: agents, refusal: "is a link, or no folder" }];
  }

  private async addConfigFolder(folder: string, source: string): Promise<void> {
    if (this.view.kindOf(folder) !== "folder") {
      const refusal = "is a link, or no folder";
      return this.add({ path: folder, root: folder, refusal }, { kind: "folder", grade: "executable", source });
    }
    const { lists, packages } = this.addSettings(join(folder, "settings.json"), source);
    for (const { kind, name, grade } of FOLDERS) {
      const list = lists[name] ?? [];
      await this.addListed(list, folder, { kind, grade, source: "settings" });
      const at = join(folder, name);
      const found = await find(kind, this.view, at);
      this.addAll(dropSwitchedOff(found, { view: this.view, folder: at, base: folder, list }), { kind, grade, source });
    }
    for (const { kind, name } of FILES) this.addFile(join(folder, name), { kind, grade: "text", source });
    this.addKinds(folder, source);
    if (declaresPackages(packages))
      await planPackages(packages, { folder, source, view: this.view, places: this.input.places }, this);
  }

  /** Enters a settings file, and answers the lists of resources and the packages in it. */
  private addSettings(path: string, source: string): { lists: Record<string, string[]>; packages: JsonObject } {
    this.addFile(path, { kind: "settings", grade: "settings", source });
    const id = itemId("settings", this.input.places.boundary, path);
    const item = this.items.get(id);
    const bytes = this.view.contents.get(path);
    if (!item || item.verdict === "refused" || !bytes) return { lists: {}, packages: {} };
    const { settings } = this.input.settings.inspectProject(bytes, path);
    const consent = settings.filter(({ grade }) => grade === "consent");
    if (consent.length > 0) {
      // Packages are resources of their own.
      const uncovered = consent.every(({ key }) => PACKAGE_KEYS.has(key)) ? [] : [NAMED];
      this.items.set(id, { ...item, grade: "executable", uncovered });
    }
    const lists: Record<string, string[]> = {};
    const packages: JsonObject = {};
    for (const { key, value, grade } of settings) {
      if (!Array.isArray(value)) continue;
      lists[key] = value.filter((each) => typeof each === "string");
      if (grade !== "consent") continue;
      if (key === "packages") packages.packages = value;
      if (key === "piAgent.packages") packages.piAgent = { packages: value };
    }
    return { lists, packages };
  }

  private async addListed(list: readonly string[], folder: string, claim: Claim & { kind: FoundKind }): Promise<void> {
    const paths = list.filter((each) => !/^[!+-]/.test(each));
    if (paths.length > MAX_PATTERNS) {
      const path = join(folder, "settings.json");
      return this.add({ path, root: path, refusal: `lists more than ${MAX_PATTERNS} paths of one kind` }, claim);
    }
    for (const entry of paths) this.addAll(await this.findListed(claim.kind, folder, entry), claim);
  }

  private async findListed(kind: FoundKind, folder: string, entry: string): Promise<Found[]> {
    const { boundary, home } = this.input.places;
    if (entry.length > MAX_PATH) {
      const settings = join(folder, "settings.json");
      return [{ path: settings, root: settings, refusal: "lists a path that is longer than paths can be" }];
    }
    const path = resolveFrom(folder, entry, home);
    const refusal = findWayOut(boundary, path);
    return refusal ? [{ path, root: path, refusal }] : find(kind, this.view, path);
  }

  private addKinds(folder: string, source: string): void {
    for (const [kind, { value }] of this.input.kinds ?? []) {
      for (const place of value.places) {
        const path = join(folder, place);
        if (isInside(path, folder)) this.addFile(path, { kind, grade: value.grade, source });
      }
    }
  }

  private addFile(path: string, claim: Claim): void {
    if (this.view.kindOf(path) !== "missing") this.add({ path, root: path }, claim);
  }

  private readFound(found: Found, claim: Claim): Read | Pick<PlanItem, "reason" | "hint"> {
    if (found.refusal !== undefined) return { reason: found.refusal };
    try {
      if (claim.kind === "extension") return this.closures.read(found.path, found.root);
      const isFolder = found.root !== found.path;
      const isText = claim.grade !== "executable" && !isFolder;
      const members = readMembers(this.view, found.root, isText ? MAX_TEXT_BYTES : undefined);
      const uncovered = claim.grade === "executable" ? [NAMED] : [];
      return {
        members,
        uncovered,
        ...(claim.kind === "skill" && isFolder && findScripts(members, this.input.places.boundary)),
      };
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) throw thrown;
      const isWhole = claim.kind === "extension" && found.root !== found.path;
      return { reason: thrown.message, ...(isWhole && { hint: this.wordLess(found.path) }) };
    }
  }

  /** Words how an extension loads whose folder cannot be accepted as a whole. */
  private wordLess(path: string): string {
    const file = relative(this.input.places.cwd, path);
    return `Take that away, or name its file: -e ${toPrintable(file.startsWith("..") ? file : `./${file}`)}`;
  }
}
