/**
 * Has the project scanned and decided about, and remembers what was said.
 *
 *   scan ─► evidence ─► settleTrust ─► TrustGrant
 *                           └─ an answer that counts for longer ─► trust.d, trust.json
 *
 * What cannot be saved holds for this process, and that is told.
 */
import { AgentError, toAgentError } from "@pi-agent/kernel";
import { collectEvidence } from "./evidence.ts";
import type { Inside } from "./extensions.ts";
import type { LoadFlags, TrustAnswer, TrustScope } from "./options.ts";
import type { Phases } from "./phases.ts";
import type { LoadPlan, PlanItem } from "./plan.ts";
import { wordChangedContext, wordNote, wordPin, wordQuestionFault, wordTypedRefusal } from "./problems.ts";
import { findChange } from "./recall.ts";
import { wordAnswer, wordAnswerAbout } from "./remember.ts";
import { makePlan } from "./scan.ts";
import { settleTrust, type TrustGrant } from "./trust.ts";
import { readTrust, type StoredTrust, type TrustRecord } from "./trust-store.ts";
import { forget, rememberOver, type TrustChange } from "./trust-writer.ts";

export class ProjectTrust {
  private readonly phases: Phases;
  /** Where it started: what was said there with a flag is not said about another place. */
  private readonly firstBoundary: string;
  /** Of the last time that the person's own extensions were looked for. */
  private inside: readonly Inside[] = [];
  /** Why what was said last could not be saved. */
  fault: AgentError | undefined;
  /** What was forgotten last was known. */
  wasKnown = false;
  /** Projects about which the person spoke since the start: that takes the place of the flags. */
  private readonly spoken = new Set<string>();
  /** By project, what was said and could not be saved. */
  private readonly unsaved = new Map<string, TrustRecord>();

  constructor(phases: Phases) {
    this.phases = phases;
    this.firstBoundary = phases.places.boundary;
  }

  /** `--approve`, `--no-approve` and `--trust`, as far as they speak for where the person is now. */
  get flags(): Pick<LoadFlags, "approve" | "trust"> {
    const { approve, trust } = this.phases.options.flags ?? {};
    if (this.spoken.has(this.phases.places.boundary)) return {};
    return this.isElsewhere ? { approve: approve === true ? undefined : approve } : { approve, trust };
  }

  /** The person is not in the project where it started. */
  get isElsewhere(): boolean {
    return this.phases.places.boundary !== this.firstBoundary;
  }

  /** Decides at a start, a reload and a move. */
  async settle(inside: readonly Inside[]): Promise<TrustGrant> {
    this.inside = inside;
    const plan = await this.scan();
    const { options, places, agent, roster, stores, grant: before, told } = this.phases;
    const { flags } = this;
    let stored: StoredTrust | undefined;
    const evidence = collectEvidence({
      options,
      places,
      agent,
      roster,
      stores,
      flags,
      before,
      readStored: () => (stored ??= this.readStored()),
      onFault: (fault) => void told.trust.push(wordQuestionFault(fault)),
    });
    const grant = await settleTrust(plan, evidence);
    if (flags.trust !== undefined && flags.trust !== plan.digest) told.trust.push(wordPin(flags.trust, plan));
    this.tellChanged(grant, stored);
    const { answer, decidedBy } = grant;
    if (answer !== undefined && decidedBy !== "code")
      await this.keep(answer, (known) => wordAnswer({ answer, plan: grant.plan, decidedBy, before: known }));
    return grant;
  }

  /** Takes what the person says now. Fails with `unknown_resource`, `trust_outdated`. */
  async decide(answer: TrustAnswer, { only, below, digest }: TrustScope): Promise<TrustGrant> {
    const plan = await this.scan();
    if (digest !== undefined && digest !== plan.digest) throw outdated(plan);
    const item = only === undefined ? undefined : findItem(plan, only);
    const said = { answer, decidedBy: "command", below };
    this.spoken.add(plan.project);
    if (item) {
      await this.keep(answer, (before) => wordAnswerAbout(item, { ...said, plan, before }));
      return settleTrust(plan, { stored: () => this.readStored() });
    }
    const grant = await settleTrust(plan, { command: answer });
    await this.keep(answer, (before) => wordAnswer({ ...said, plan: grant.plan, before }));
    return grant;
  }

  /** Takes back what is remembered; what an ancestor's record says still holds. */
  async forget(): Promise<TrustGrant> {
    const { agentDir, boundary } = this.phases.places;
    this.wasKnown = await forget(agentDir, boundary);
    this.spoken.add(boundary);
    this.unsaved.delete(boundary);
    return settleTrust(await this.scan(), { stored: () => this.readStored() });
  }

  private async scan(): Promise<LoadPlan> {
    const { places, stores, agent, roster, told, options, hasStarted } = this.phases;
    const { settings } = stores;
    // What the project registered so far does not say what is scanned, or what it counts as (T4).
    const ofProject = roster.of("project").map(({ owner }) => owner.name);
    const kinds = [...agent.registry("resource-kind")].filter(([, { owner }]) => !ofProject.includes(owner.name));
    const contextFiles = options.flags?.noContextFiles
      ? "never"
      : (settings.userValue("contextFiles") as "always" | "trusted" | "never");
    const isPicked = options.agent !== undefined;
    const from = { places, settings, inside: this.inside, kinds: new Map(kinds), contextFiles, isPicked };
    const plan = await makePlan(from);
    const refused = plan.items.find(({ scope, verdict }) => scope === "flag" && verdict === "refused");
    if (refused && !hasStarted) throw wordTypedRefusal(refused);
    told.trust = refused ? [wordTypedRefusal(refused)] : [];
    return plan;
  }

  private readStored(): StoredTrust {
    const { places, told } = this.phases;
    const stored = readTrust(places.agentDir, places.boundary);
    for (const note of stored.notes) told.trust.push(wordNote(note));
    const unsaved = this.unsaved.get(places.boundary);
    if (!unsaved) return stored;
    if (unsaved.decision === "denied") return { ...stored, denial: "what you said" };
    return { ...stored, denial: undefined, approvals: [unsaved] };
  }

  /** Context files load without a decision, but where something was decided, it is known what they were then. */
  private tellChanged({ plan }: TrustGrant, stored: StoredTrust | undefined): void {
    for (const item of plan.items.filter(({ kind, verdict }) => kind === "context-file" && verdict === "loaded")) {
      const change = findChange(stored?.approvals ?? [], item);
      if (change && !change.isNew && change.changed.length > 0) this.phases.told.trust.push(wordChangedContext(item));
    }
  }

  /** "Not now" is nothing to remember. */
  private async keep(answer: TrustAnswer, word: (before?: TrustRecord) => TrustChange | undefined): Promise<void> {
    const { agentDir, boundary } = this.phases.places;
    this.fault = undefined;
    if (answer === "not-now") return;
    try {
      await rememberOver(agentDir, boundary, word);
      this.unsaved.delete(boundary);
    } catch (thrown) {
      this.fault = toAgentError(thrown);
      this.phases.told.trust.push(this.fault);
      const known = readTrust(agentDir, boundary).approvals.find(({ project }) => project === boundary);
      const change = word(this.unsaved.get(boundary) ?? known);
      if (!change) return;
      const { key: project, contents: _contents, ...said } = change;
      this.unsaved.set(boundary, { version: 1, project, ...said, decidedAt: new Date().toISOString() });
    }
  }
}

function outdated({ project }: LoadPlan): AgentError {
  return new AgentError("trust_outdated", `Nothing was decided: ${project} changed while you were asked about it.`, {
    hint: "Look at what it is now, and answer again.",
  });
}

function findItem(plan: LoadPlan, id: string): PlanItem {
  const item = plan.items.find((each) => each.id === id);
  if (item && item.verdict !== "refused") return item;
  const why = item ? `it ${item.reason}` : "the project brings no such thing";
  throw new AgentError("unknown_resource", `Nothing can be decided about ${id}: ${why}.`, {
    hint: "pi trust show lists what there is.",
  });
}
