/**
 * The three phases that everything that loads passes, at a start, at a reload, and where a session moves the boundary.
 *
 *   1  user      settings ─► official packages ─► user extensions, -e ─► flags settled ─► session_select
 *   2  trust     scan of the project ─► load plan ─► settleTrust ─► TrustGrant
 *   3  project   loadProject(grant): settings, texts, extensions; the rest is held, and reported
 *
 * 1. Nothing inside the boundary is opened in phase 1; nothing of it is executed or obeyed before the grant.
 * 2. What fails keeps nothing else from loading; only what was asked for with -e ends the start (E2). In a running agent
 *    an old version goes on in place of a new one that fails.
 * 3. Official packages load once. The person's extensions live on when the boundary moves; the project's do not.
 */
import { resolve } from "node:path";
import {
  type Agent,
  type AgentError,
  createAgent,
  type ExtensionReport,
  type FlagValue,
  type LeakReport,
} from "@pi-agent/kernel";
import { loadWithTools, takeModelAnew } from "./carry-over.ts";
import {
  findOwnExtensions,
  type Inside,
  isAlive,
  isFound,
  isOneOf,
  loadExtensions,
  type Wanted,
} from "./extensions.ts";
import { fillFlags } from "./flags.ts";
import { installGate } from "./gate.ts";
import { loadGranted } from "./granted.ts";
import { createHost, type LoaderHost } from "./host.ts";
import { createImporter, type Importer } from "./import.ts";
import { Installed } from "./installed.ts";
import { keepOut } from "./keep-out.ts";
import { createLifeCycle, type Decide, type LifeCycle } from "./life-cycle.ts";
import type { LoadOptions, PackageControl, TrustControl } from "./options.ts";
import { createPackageControl } from "./package-control.ts";
import { describePicked, pickOfficial, settlePicked } from "./picked.ts";
import { findPlaces, type Places, realPathOf } from "./places.ts";
import { wordMoved } from "./problems.ts";
import { ProjectTrust } from "./project-trust.ts";
import { createReport, type LoadReport } from "./report.ts";
import type { ResourceStore } from "./resources.ts";
import { assertTyped, Roster } from "./roster.ts";
import { askForSession } from "./sessions-service.ts";
import type { SettingsStore } from "./settings.ts";
import { openStores, type Stores } from "./stores.ts";
import { Told } from "./told.ts";
import type { TrustGrant } from "./trust.ts";

/** What the phases are gone through for: the person's extensions are imported at a start and a reload, not at a move. */
export type Way = "start" | "reload" | "move" | "trust";

export class Phases {
  readonly options: LoadOptions;
  /** Where the person is now: a session from elsewhere moves it. */
  places: Places;
  readonly stores: Stores;
  readonly host: LoaderHost;
  readonly agent: Agent;
  readonly importer: Importer;
  /** The present decision about the project. */
  grant: TrustGrant | undefined;
  readonly report: LoadReport;
  readonly told = new Told();
  readonly roster = new Roster(() => this.agent);
  private readonly settings: SettingsStore;
  private readonly resources: ResourceStore;
  readonly flags = new Map<string, FlagValue>();
  readonly projectTrust: ProjectTrust;
  readonly installed: Installed;
  private readonly lifeCycle: LifeCycle;
  /** From then on nothing that fails ends anything. */
  hasStarted = false;
  /** Stands between the person's extensions and the project, until the decision. */
  private guard: ReturnType<typeof keepOut> | undefined;

  constructor(options: LoadOptions) {
    this.options = options;
    this.places = this.placesOf(options.cwd);
    this.projectTrust = new ProjectTrust(this);
    this.installed = new Installed(this);
    const { agentDir, cwd } = this.places;
    // The settings say which packages the agent is made of.
    const registry: Agent["registry"] = (kind) => (this.agent as Agent | undefined)?.registry(kind) ?? new Map();
    this.stores = openStores(options, { places: () => this.places, registry });
    this.settings = this.stores.settings;
    const { definition, isOwn = false } = options.agent ?? {};
    if (definition?.settings) this.settings.override(definition.settings, isOwn);
    this.resources = this.stores.resources;
    this.lifeCycle = createLifeCycle(this);
    const { flags, lifeCycle, installed } = this;
    const packages = { list: () => installed.facts };
    this.host = createHost({ cwd, options, lifeCycle, grant: () => this.grant, flags, packages, ...this.stores });
    const { maxTurns = options.agent?.definition.maxTurns, signal } = options;
    const extensions = [...pickOfficial(options, this.settings.userValue("extensions"))];
    this.agent = createAgent({ extensions, host: this.host, maxTurns, signal, ...describePicked(options) });
    this.agent.declareHook("project_trust", { way: "vote" });
    installGate({ agent: this.agent, host: this.host, places: () => this.places });
    this.importer = createImporter({ agentDir, modules: () => registry("module") });
    this.report = createReport(this);
  }

  /** Goes through all three for the first time. Fails as `load` does. */
  async start(): Promise<void> {
    await this.agent.ready();
    this.roster.enter("official", { loaded: this.agent.extensions });
    let inside = await this.settleOwn("start");
    fillFlags(this.flags, this.options.flags, this.agent.registry("flag"));
    if (await this.selectSession()) inside = await this.settleOwn("move");
    await loadWithTools(this, () => this.settleProject(inside, "start"));
    await settlePicked(this.options, this.agent, this.stores.models);
    this.hasStarted = true;
  }

  /** Reads everything anew, and puts new instances in the place of old ones. What fails stays as it was, and is told. */
  async reload(): Promise<void> {
    const { agent, stores } = this;
    stores.settings.reload();
    stores.modelsFile.reload();
    stores.credentials.reload();
    this.told.forget();
    await loadWithTools(this, async () => this.settleProject(await this.settleOwn("reload"), "reload"));
    await takeModelAnew(agent, stores.models);
  }

  /** Leaves a place for another one; the project that is left there is disposed of. */
  async leaveFor(places: Places): Promise<void> {
    this.told.forget();
    if (places.boundary !== this.places.boundary) await this.disposeProject();
    this.moveTo(places);
  }

  /** Settles what is new at the place that was moved to. */
  async arrive(): Promise<void> {
    await loadWithTools(this, async () => this.settleProject(await this.settleOwn("move"), "move"));
  }

  /** The places for a working directory. Fails with `no_cwd`. */
  placesOf(cwd: string): Places {
    const { agentDir, cwd: start, env = process.env } = this.options;
    // What was given is meant from where it was given.
    return findPlaces({ cwd, env, agentDir: agentDir && resolve(start, agentDir) });
  }

  /** Unloads everything, once a change that is under way is through. */
  async end(): Promise<LeakReport> {
    await this.lifeCycle.end();
    this.stopGuard();
    const report = await this.agent.dispose();
    this.importer.dispose();
    return report;
  }

  // ---------------------------------------------------------------- what became of it

  /** What the front end may say about the project at any time. */
  get trust(): TrustControl {
    const { projectTrust, lifeCycle, report } = this;
    const change = async (decide: Decide) => {
      if (this.options.isPlanOnly) this.grant = await decide(projectTrust);
      else await lifeCycle.changeTrust(decide);
    };
    return {
      decide: async (answer, scope = {}) => {
        await change((trust) => trust.decide(answer, scope));
        return { plan: report.plan, fault: projectTrust.fault };
      },
      forget: async () => {
        await change((trust) => trust.forget());
        return { plan: report.plan, wasKnown: projectTrust.wasKnown };
      },
    };
  }

  /** What may be done about packages at any time. */
  get packages(): PackageControl {
    return createPackageControl(this);
  }

  get extensions(): ExtensionReport[] {
    return this.roster.all;
  }

  get problems(): AgentError[] {
    return [...this.extensions.flatMap(({ error }) => error ?? []), ...this.told.all];
  }

  // ---------------------------------------------------------------- 1: user

  private async settleOwn(way: Way): Promise<Inside[]> {
    const { options, settings, roster, places, told } = this;
    if (options.isBare) return [];
    const { extensions: asked = [], noExtensions = false } = options.flags ?? {};
    const list = settings.userValue("extensions");
    const typed = (await Promise.all(asked.map((each) => this.installed.bringTyped(each, options.cwd)))).flat();
    const packages = await this.installed.findOwn();
    const found = await findOwnExtensions(places, {
      packaged: packages.extensions,
      typed,
      typedIn: options.cwd,
      list: Array.isArray(list) ? list.map(String) : [],
      isDiscovering: !noExtensions && !options.agent,
    });
    if (found.typedFault && !this.hasStarted) throw found.typedFault;
    told.add("files", [...found.problems, ...(found.typedFault ? [found.typedFault] : [])]);
    if (way === "reload")
      await roster.unload(
        "own",
        roster.of("own").filter((each) => !isFound(each, found)),
      );
    const known = new Set(
      roster
        .of("own")
        .filter(isAlive)
        .map(({ owner }) => realPathOf(owner.name)),
    );
    const isKnown = ({ path }: { path: string }) => known.has(realPathOf(path));
    await this.activate(way === "move" ? found.now.filter((each) => !isKnown(each)) : found.now);
    return [...packages.inside, ...found.inside].filter((each) => !isKnown(each));
  }

  /** Loads extensions of the person's own. From then until the decision they cannot reach into the project. */
  private async activate(wanted: readonly Wanted[]): Promise<void> {
    if (wanted.length === 0) return;
    const { agent, importer, roster } = this;
    const before = roster.alive;
    // What lies beside the file of a program's own agent is the program's, wherever it is run.
    if (!this.options.agent?.isOwn) this.guard ??= keepOut(this.places);
    const loaded = await loadExtensions(wanted, { agent, importer, alive: before, check: this.guard?.check });
    if (!this.hasStarted) assertTyped(loaded);
    const staying = roster.of("own").filter((each) => !isOneOf(wanted, each));
    roster.enter("own", { loaded, staying, before });
  }

  /** Answers whether the session is held elsewhere. */
  private async selectSession(): Promise<boolean> {
    const session = await askForSession(this.agent, this.flags);
    if (!session) return false;
    const before = this.places;
    this.moveTo(this.placesOf(session.cwd));
    this.agent.open(session);
    return before.cwd !== this.places.cwd;
  }

  private moveTo(places: Places): void {
    const from = this.places;
    this.places = places;
    this.host.cwd = places.cwd;
    if (from.cwd === places.cwd) return;
    this.stopGuard();
    const isApproveLost = this.options.flags?.approve === true && this.projectTrust.isElsewhere;
    this.told.moved = wordMoved({ from: from.cwd, to: places.cwd, isApproveLost });
  }

  // ---------------------------------------------------------------- 2: trust

  private async settleProject(inside: readonly Inside[], way: Way): Promise<void> {
    const grant = await this.projectTrust.settle(inside).finally(() => this.stopGuard());
    await loadGranted(this, grant, way);
  }

  /** Puts another decision about this project in force. Answers what no longer loads, by id. */
  async loadDecided(decide: Decide): Promise<string[]> {
    const before = [...(this.grant?.digests.keys() ?? [])];
    const grant = await decide(this.projectTrust);
    await loadWithTools(this, () => loadGranted(this, grant, "trust"));
    return before.filter((id) => !grant.digests.has(id));
  }

  private stopGuard(): void {
    this.guard?.stop();
    this.guard = undefined;
  }

  // ---------------------------------------------------------------- 3: project

  private async disposeProject(): Promise<void> {
    const { agent, settings, resources, roster, grant } = this;
    await roster.unload("project", roster.of("project"));
    settings.revokeProject();
    resources.revoke();
    this.grant = undefined;
    if (grant && grant.digests.size > 0) await agent.dispatch("resources_changed", { reason: "revocation" });
  }
}
