/**
 * What installed packages bring to a load.
 *
 *   the person's settings ─► findInstalled ─► extensions and texts, before the project is looked at
 *   what was granted      ─► findInstalled ─► over the person's: one package is there once (P12)
 *
 * Nothing is fetched and nothing is changed (P11). What cannot be loaded is told, with what to do about it.
 */
import { dirname, join } from "node:path";
import { type AgentError, isAgentError, type JsonObject } from "@pi-agent/kernel";
import kernel from "@pi-agent/kernel/package.json" with { type: "json" };
import type { Inside, Wanted } from "./extensions.ts";
import type { PackageFacts } from "./host.ts";
import { isLent } from "./lent.ts";
import { parseOwnText } from "./own-file.ts";
import type { Declared, InstalledPackage, Locks, PackageContext, PackageScope } from "./packages/index.ts";
import type { Phases } from "./phases.ts";
import { findPicked, type Picked } from "./picked.ts";
import { belongsToProject, isInside, realPathOf } from "./places.ts";
import { contentOf, type LoadPlan, type PlanItem } from "./plan.ts";
import { declaresPackages, lockIn, PACKAGE } from "./project-packages.ts";
import type { PackagedText } from "./resources.ts";
import { bringTyped, isTypedSource } from "./temporary.ts";
import type { TrustGrant } from "./trust.ts";

const TEXTS = [
  { list: "skills", kind: "skill" },
  { list: "prompts", kind: "prompt" },
  { list: "themes", kind: "theme" },
] as const;
// Who has a name first: what a person put in their own folder comes before what they installed.
const RANKS = { user: "package", project: "project" } as const;
const MS_PER_MINUTE = 60_000;

export class Installed {
  private readonly phases: Phases;
  /** What was typed and brought, with where it is: once is enough for a process. */
  private readonly typed = new Map<string, Promise<InstalledPackage>>();
  /** What was typed, by identity. */
  private readonly brought = new Map<string, InstalledPackage>();
  private own: readonly InstalledPackage[] = [];
  private merged: readonly InstalledPackage[] = [];
  /** What an agent picked of the project, with its options: it waits for trust. */
  private held: Picked["inside"] = [];
  /** Folders of the project that its granted settings declare. */
  private inProject: Picked["inside"] = [];

  constructor(phases: Phases) {
    this.phases = phases;
  }

  /** Every package that is declared: the person's, and those of the granted project. */
  get facts(): readonly PackageFacts[] {
    return this.merged.map(({ identity, name, version, source, scope, state, resources: lists = {} }) => {
      const resources = Object.values(lists).flatMap((list) => list.flatMap(({ path, isOn }) => (isOn ? [path] : [])));
      return { identity, name, version, source, scope, state, resources };
    });
  }

  /** What operations on packages are told. `projectDir`: the `.pi` of a project whose packages may be looked at. */
  contextFor(projectDir?: string): PackageContext {
    const { places, options, agent } = this.phases;
    const { programs, settings } = this.phases.stores;
    const age = settings.userValue("minimumReleaseAge");
    return {
      agentDir: places.agentDir,
      home: places.home,
      projectDir,
      // Every folder of PATH is looked at for it, and a start needs none.
      get env() {
        return programs.environment();
      },
      findProgram: (name) => programs.find(name),
      hostVersions: { "@pi-agent/kernel": kernel.version },
      isLent: (name) => isLent(name) || agent.registry("module").has(name),
      isOffline: options.flags?.offline,
      signal: options.signal,
      minimumReleaseAgeMs: typeof age === "number" ? age * MS_PER_MINUTE : undefined,
    };
  }

  /** Looks at the person's own packages, or at what the agent picks. What lies inside the boundary waits for trust. */
  async findOwn(): Promise<{ extensions: Wanted[]; inside: Inside[] }> {
    const { agent } = this.phases.options;
    const found = agent ? await findPicked(agent, this.finder(agent.isOwn === true)) : await this.findDeclared();
    this.held = found.inside;
    this.own = found.packages;
    this.merged = this.own;
    if (agent && !this.phases.hasStarted) for (const { problem } of this.own) if (problem) throw problem;
    this.tell(this.own);
    const source = agent ? "agent file" : "user packages";
    return {
      extensions: this.ownExtensions,
      inside: found.inside.map(({ path }) => ({ path, source, isTyped: false })),
    };
  }

  /** Makes paths of what was typed with `-e`: a package is brought first. */
  async bringTyped(text: string, cwd: string): Promise<string[]> {
    if (!isTypedSource(text)) return [text];
    const brought = this.typed.get(text) ?? this.fetchTyped(text, cwd);
    this.typed.set(text, brought);
    // What failed may be asked for again.
    const found = await brought.catch((thrown: unknown) => {
      this.typed.delete(text);
      throw thrown;
    });
    this.brought.set(found.identity, found);
    return toExtensions(found).map(({ path }) => path);
  }

  private async fetchTyped(text: string, cwd: string): Promise<InstalledPackage> {
    const { showSource } = await import("./packages/index.ts");
    this.phases.host.ui.notify(`Fetching ${showSource(text)}`);
    return bringTyped(this.contextFor(), text, cwd);
  }

  /** Looks at the packages of what was granted, in place of those before. */
  async findProject({ plan, digests }: TrustGrant): Promise<void> {
    const isGranted = ({ id, digest }: PlanItem) => digests.get(id) === digest;
    const settings = plan.items.filter((item) => item.kind === "settings" && isGranted(item));
    this.inProject = (await Promise.all(settings.map(({ path }) => this.findFolders(plan, path)))).flat();
    const granted = plan.items.filter((item) => item.kind === PACKAGE && isGranted(item));
    const project: InstalledPackage[] = [];
    for (const path of new Set(granted.map((item) => item.path))) {
      project.push(...(await this.findLocked(plan, path, granted)));
    }
    this.merged = this.own;
    if (project.length === 0) return;
    const { mergeInstalled } = await import("./packages/index.ts");
    this.merged = mergeInstalled(this.own, project);
    this.tell(project);
  }

  /** Extensions of the person's packages in load order, but those that the project has another way. */
  get ownExtensions(): Wanted[] {
    return this.extensionsOf("user");
  }

  /** Extensions of the granted project's packages, in load order. */
  get projectExtensions(): Wanted[] {
    return this.extensionsOf("project");
  }

  /** The options of what lies in the project: an agent picked it, or the granted settings declare it. */
  optionsFor(path: string): unknown {
    return [...this.held, ...this.inProject].find((each) => isInside(path, each.path))?.options;
  }

  /** Texts of a scope's packages that are on. */
  textsOf(scope: PackageScope["name"]): PackagedText[] {
    const rank = RANKS[scope];
    const typed = scope === "user" ? [...this.brought.values()] : [];
    const packages = [...typed, ...this.installedIn(scope)].filter(
      (each) => each.scope === scope && each.state === "ok",
    );
    return packages.flatMap(({ name, folder = "", resources }) =>
      TEXTS.flatMap(({ list, kind }) => {
        const items = resources?.[list].filter(({ isOn }) => isOn) ?? [];
        return items.map(({ path }) => ({ kind, path: join(folder, path), source: `package ${name}`, scope: rank }));
      }),
    );
  }

  private extensionsOf(scope: PackageScope["name"]): Wanted[] {
    if (this.phases.options.flags?.noExtensions && !this.phases.options.agent) return [];
    return this.installedIn(scope).flatMap(toExtensions);
  }

  /** A package that was typed takes the place of the same one that is installed. */
  private installedIn(scope: PackageScope["name"]): InstalledPackage[] {
    const isTyped = ({ name }: InstalledPackage) => [...this.brought.values()].some((each) => each.name === name);
    return this.merged.filter((each) => each.scope === scope && !isTyped(each));
  }

  private async findDeclared(): Promise<Picked> {
    const inside: Picked["inside"] = [];
    const isOutside = ({ source, options }: Declared) => {
      if (source.kind !== "local" || !belongsToProject(this.phases.places, source.path)) return true;
      inside.push({ path: realPathOf(source.path), options });
      return false;
    };
    return { packages: await this.find("user", this.ownValues, { isMeant: isOutside }), inside };
  }

  private finder(isOwn: boolean): Parameters<typeof findPicked>[1] {
    const { places, options } = this.phases;
    return {
      official: (options.official ?? []).map(({ owner }) => owner.name),
      isProjects: (path) => !isOwn && belongsToProject(places, path),
      findIn: (packages) => this.find("user", { packages }),
      // What a person installed is no part of a program of its own.
      findInstalled: () => (isOwn ? Promise.resolve([]) : this.find("user", this.ownValues)),
    };
  }

  private get ownValues(): JsonObject {
    const { settings } = this.phases.stores;
    return { packages: settings.userValue("packages") ?? [], piAgent: settings.userValue("piAgent") ?? {} };
  }

  private async findFolders(plan: LoadPlan, path: string): Promise<Picked["inside"]> {
    const { values } = parseOwnText(path, new TextDecoder().decode(contentOf(plan, path)));
    if (!declaresPackages(values)) return [];
    const { toDeclared } = await import("./packages/index.ts");
    const { declared } = toDeclared(values, { folder: dirname(path), home: this.phases.places.home });
    return declared.flatMap(({ source, options }) => (source.kind === "local" ? [{ path: source.path, options }] : []));
  }

  /** What of a granted project's packages is there: the lock that counts is the one that was decided about. */
  private async findLocked(plan: LoadPlan, path: string, granted: readonly PlanItem[]): Promise<InstalledPackage[]> {
    const { values } = parseOwnText(path, new TextDecoder().decode(contentOf(plan, path)));
    const { parseLock } = await import("./packages/index.ts");
    const bytes = contentOf(plan, lockIn(dirname(path)));
    const locks = { now: bytes ? parseLock(bytes) : new Map(), previous: new Map() };
    const ids = new Set(granted.filter((item) => item.path === path).map(({ id }) => id));
    const isMeant = ({ source }: Declared) => ids.has(`${PACKAGE}:${source.identity}`);
    return this.find("project", values, { isMeant, locks, projectDir: dirname(path) });
  }

  private async find(
    name: PackageScope["name"],
    values: JsonObject,
    {
      isMeant = () => true,
      locks,
      projectDir,
    }: { isMeant?: (each: Declared) => boolean; locks?: Locks; projectDir?: string } = {},
  ): Promise<InstalledPackage[]> {
    if (!declaresPackages(values)) return [];
    const { findInstalled, scopeOf, toDeclared } = await import("./packages/index.ts");
    const context = this.contextFor(projectDir);
    const scope = scopeOf(context, name);
    const { declared, faults } = toDeclared(values, { folder: scope.folder, home: context.home });
    // What a project declares wrongly is refused in the plan.
    const meant = { declared: declared.filter(isMeant), faults: name === "user" ? faults : [] };
    try {
      return await findInstalled(context, scope, { declared: meant, locks });
    } catch (thrown) {
      if (!isAgentError(thrown)) throw thrown;
      this.phases.told.add("files", [thrown]);
      return [];
    }
  }

  private tell(packages: readonly InstalledPackage[]): void {
    const problems = packages.map(({ problem }) => problem).filter((each): each is AgentError => each !== undefined);
    this.phases.told.add("files", problems);
  }
}

/** The extensions of a package that are on, where it may be loaded. */
function toExtensions({ identity, name, scope, state, folder = "", resources, options }: InstalledPackage): Wanted[] {
  const items = state === "ok" ? (resources?.extensions ?? []) : [];
  const id = scope === "project" ? `${PACKAGE}:${identity}` : undefined;
  const known = { id, scope: RANKS[scope], package: name, options };
  return items
    .filter(({ isOn }) => isOn)
    .map(({ path, requires }) => ({ ...known, path: join(folder, path), requires }));
}
