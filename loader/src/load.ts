/**
 * Brings an agent to life, in three phases, always in this order. Every way in passes here.
 *
 *   1  user      settings ─► official packages ─► user extensions, -e ─► flags settled ─► session_select
 *   2  trust     scan of the project ─► load plan ─► settleTrust ─► TrustGrant
 *   3  project   loadProject(grant): settings, texts, extensions; the rest is held, and reported
 *
 * 1. Nothing inside the boundary is opened in phase 1; nothing of it is executed or obeyed before the grant.
 * 2. What fails keeps nothing else from loading; only what was asked for with -e ends the start (E2).
 * 3. Without extension files and project resources nothing is imported here but modules of Node's own.
 */
import {
  type Agent,
  AgentError,
  createAgent,
  type ExtensionReport,
  type FlagValue,
  type LeakReport,
  type Undo,
} from "@pi-agent/kernel";
import { openCredentials } from "./credentials.ts";
import { findOwnExtensions, type Inside, loadExtensions, type Wanted } from "./extensions.ts";
import { settleFlags } from "./flags.ts";
import { createHost, type LoaderHost } from "./host.ts";
import { createImporter, type Importer } from "./import.ts";
import { keepOut } from "./keep-out.ts";
import { openModels } from "./models.ts";
import { type ModelsFile, openModelsFile } from "./models-file.ts";
import type { Loaded, LoadOptions } from "./options.ts";
import { belongsToProject, findPlaces, type Places } from "./places.ts";
import type { LoadPlan } from "./plan.ts";
import { wordExtensionFault, wordMoved, wordNote, wordQuestionFault, wordTypedRefusal } from "./problems.ts";
import { loadProject } from "./project.ts";
import { createReport } from "./report.ts";
import { createResources, type ResourceStore } from "./resources.ts";
import { makePlan } from "./scan.ts";
import { openSettings, type SettingsStore } from "./settings.ts";
import { type Evidence, settleTrust, type TrustDecision, type TrustGrant } from "./trust.ts";
import { readTrust } from "./trust-store.ts";

// What extensions wait for at start-up may hold nothing open: the process must not end under them.
const HOLD_MS = 60_000;

/**
 * Loads an agent. Fails with `no_cwd`, `unknown_flag`, `flag_value`, `extension_source`, `extension_refused`, with what
 * a `-e` extension failed with, and with what choosing the session failed with; nothing is left behind then.
 */
export async function load(options: LoadOptions): Promise<Loaded> {
  const start = new Start(options);
  const hold = setInterval(() => {}, HOLD_MS);
  const stopNoting = start.noteFaults();
  try {
    const inside = await start.loadUser();
    const grant = await start.decideProject(inside);
    await start.loadGranted(grant);
    return start.finish(grant);
  } catch (thrown) {
    await start.end();
    throw thrown;
  } finally {
    clearInterval(hold);
    await stopNoting();
  }
}

class Start {
  private readonly options: LoadOptions;
  private readonly env: NodeJS.ProcessEnv;
  /** Where the person is now: a session from elsewhere moves it. */
  private places: Places;
  /** A session moved the boundary: what was said about the first one is not said about this one. */
  private hasMoved = false;
  private readonly settings: SettingsStore;
  private readonly resources: ResourceStore;
  private readonly flags = new Map<string, FlagValue>();
  private readonly trust: { decision: TrustDecision; plan?: LoadPlan } = { decision: "untrusted" };
  private readonly host: LoaderHost;
  private readonly agent: Agent;
  private readonly importer: Importer;
  readonly modelsFile: ModelsFile;
  private readonly reports: ExtensionReport[] = [];
  private readonly problems: AgentError[] = [];
  /** Stands between the person's extensions and the project, until the decision. */
  private guard: ReturnType<typeof keepOut> | undefined;

  constructor(options: LoadOptions) {
    this.options = options;
    this.env = options.env ?? process.env;
    this.places = findPlaces({ cwd: options.cwd, env: this.env, agentDir: options.agentDir });
    const { agentDir, cwd } = this.places;
    this.settings = openSettings({ agentDir });
    this.resources = createResources({
      sources: options.sources ?? ["files"],
      contextFiles: this.contextFiles !== "never",
    });
    const { settings } = this;
    this.modelsFile = openModelsFile(agentDir);
    const { modelsFile } = this;
    const registry: Agent["registry"] = (kind) => this.agent.registry(kind);
    const credentials = openCredentials({ agentDir, registry, modelsFile, env: this.env });
    const models = openModels({ registry, modelsFile, credentials, settings });
    const { resources, trust, flags } = this;
    this.host = createHost({ cwd, options, settings, credentials, models, resources, trust, flags });
    const { official = [], maxTurns, signal } = options;
    this.agent = createAgent({ extensions: [...official], host: this.host, maxTurns, signal });
    this.agent.declareHook("project_trust", { way: "vote" });
    this.importer = createImporter({ agentDir, modules: () => registry("module") });
  }

  // ---------------------------------------------------------------- 1: user

  async loadUser(): Promise<Inside[]> {
    const { extensions: typed = [], noExtensions = false } = this.options.flags ?? {};
    await this.agent.ready();
    this.take(this.agent.extensions);
    const list = this.settings.userValue("extensions");
    const found = await findOwnExtensions(this.places, {
      typed,
      list: Array.isArray(list) ? list.map(String) : [],
      isDiscovering: !noExtensions,
    });
    this.problems.push(...found.problems);
    await this.activate(found.now);
    this.settleFlags();
    await this.selectSession();
    return this.sortAgain(found.inside);
  }

  /** Loads extensions of the person's own. From then until the decision they cannot reach into the project. */
  private async activate(wanted: readonly Wanted[]): Promise<void> {
    if (wanted.length === 0) return;
    const { agent, importer } = this;
    this.guard ??= keepOut(this.places);
    this.take(await loadExtensions(wanted, { agent, importer, check: this.guard.check }));
  }

  private settleFlags(): void {
    const { values = new Map<string, FlagValue>(), known, offline, verbose } = this.options.flags ?? {};
    const registered = this.agent.registry("flag");
    const settled = typeof values === "function" ? values(registered) : settleFlags(values, registered, known);
    for (const [name, value] of settled) this.flags.set(name, value);
    if (offline) this.flags.set("offline", true);
    if (verbose) this.flags.set("verbose", true);
  }

  private async selectSession(): Promise<void> {
    const faults: Error[] = [];
    const stop = this.agent.on("fault", ({ error }) => void faults.push(error));
    const session = await this.agent.dispatch("session_select", { flags: this.flags });
    await stop();
    // A session that was asked for and cannot be had is no reason to begin another one.
    if (!session && faults[0]) throw faults[0];
    if (!session) return;
    this.moveTo(findPlaces({ cwd: session.cwd, env: this.env, agentDir: this.options.agentDir }));
    this.host.cwd = this.places.cwd;
    this.guard?.stop();
    this.guard &&= keepOut(this.places);
    this.agent.open(session);
  }

  private moveTo(places: Places): void {
    const from = this.places;
    this.places = places;
    this.hasMoved = from.boundary !== places.boundary;
    if (from.cwd === places.cwd) return;
    const isApproveLost = this.hasMoved && this.options.flags?.approve === true;
    this.problems.push(wordMoved({ from: from.cwd, to: places.cwd, isApproveLost }));
  }

  /** A session from elsewhere moves the boundary: what was inside and is no more, is the person's own again. */
  private async sortAgain(inside: readonly Inside[]): Promise<Inside[]> {
    const isInside = ({ path }: Inside) => belongsToProject(this.places, path);
    const outside = inside.filter((each) => !isInside(each));
    await this.activate(outside.map(({ path, isTyped }) => ({ path, scope: isTyped ? "flag" : "user" })));
    return inside.filter(isInside);
  }

  // ---------------------------------------------------------------- 2: trust

  async decideProject(inside: readonly Inside[]): Promise<TrustGrant> {
    const { places, settings, contextFiles } = this;
    const kinds = this.agent.registry("resource-kind");
    const plan = await makePlan({ places, settings, inside, kinds, contextFiles });
    const refused = plan.items.find(({ scope, verdict }) => scope === "flag" && verdict === "refused");
    if (refused) throw wordTypedRefusal(refused);
    const grant = await settleTrust(plan, this.collectEvidence());
    this.guard?.stop();
    Object.assign(this.trust, { decision: grant.decision, plan: grant.plan });
    return grant;
  }

  private collectEvidence(): Evidence {
    const { flags, mode, trust, signal } = this.options;
    const { agent, places, problems } = this;
    const onFault = (fault: unknown) => void problems.push(wordQuestionFault(fault));
    const approve = this.hasMoved && flags?.approve === true ? undefined : flags?.approve;
    const evidence: Evidence = { approve, answer: trust, signal, onFault };
    // A program that says nothing about trust gets none.
    if (!mode) return evidence;
    evidence.ask = mode.askTrust;
    // Where the person's own folder turns out to lie in this project, nothing that it holds speaks for the person.
    if (places.foreignAgentDir !== undefined) return evidence;
    evidence.defaultTrust = this.settings.userValue("defaultProjectTrust") as Evidence["defaultTrust"];
    evidence.stored = () => {
      const stored = readTrust(places.agentDir, places.boundary);
      problems.push(...stored.notes.map(wordNote));
      return stored;
    };
    // Nor do handlers vote about the project that their own code lies in.
    if (this.hasOwnInside()) return evidence;
    evidence.vote = async (plan) => {
      const answer = await agent.dispatch("project_trust", { cwd: places.cwd, plan });
      return answer?.trusted === "yes" || answer?.trusted === "no" ? answer.trusted : undefined;
    };
    return evidence;
  }

  private hasOwnInside(): boolean {
    const own = this.reports.filter(({ owner }) => owner.scope !== "official");
    return own.some(({ owner }) => owner.path !== undefined && belongsToProject(this.places, owner.path));
  }

  private get contextFiles(): "always" | "trusted" | "never" {
    if (this.options.flags?.noContextFiles) return "never";
    return this.settings.userValue("contextFiles") as "always" | "trusted" | "never";
  }

  // ---------------------------------------------------------------- 3: project

  async loadGranted(grant: TrustGrant): Promise<void> {
    const { agent, places, settings, flags, resources, importer } = this;
    await resources.findOwn(places, { settings, flags, cwd: this.options.cwd });
    this.take(await loadProject(grant, { cwd: places.cwd, agent, settings, resources, importer }));
    if (grant.digests.size > 0) await agent.dispatch("resources_changed", { reason: "grant" });
  }

  finish(grant: TrustGrant): Loaded {
    const { agent, host, places, settings, modelsFile, resources, reports, problems } = this;
    const { credentials } = host;
    const report = createReport({ places, settings, modelsFile, credentials, resources, reports, problems, grant });
    return { agent, host, report, dispose: () => this.end() };
  }

  async end(): Promise<LeakReport> {
    this.guard?.stop();
    const report = await this.agent.dispose();
    this.importer.dispose();
    return report;
  }

  // ----------------------------------------------------------------

  /** Notes what extensions do wrong while nobody else is listening. A failed load is told by its report. */
  noteFaults(): Undo {
    return this.agent.on("extension_error", ({ event, ...fault }) => {
      if (event !== "load") this.problems.push(wordExtensionFault(event, fault));
    });
  }

  /** Notes what became of extensions. Fails when one that was asked for with -e failed, naming the others too. */
  private take(reports: readonly ExtensionReport[]): void {
    this.reports.push(...reports);
    const failed = reports.flatMap(({ owner, error }) => (error ? [{ owner, error }] : []));
    const typed = failed.find(({ owner }) => owner.scope === "flag");
    if (!typed) {
      this.problems.push(...failed.map(({ error }) => error));
      return;
    }
    const { code, hint, cause, owner } = typed.error;
    const others = failed.filter((each) => each !== typed);
    const message = [typed, ...others].map(({ error }) => error.message).join("\n");
    throw new AgentError(code, message, { hint, cause, owner });
  }
}
