/** Gathers what a decision about a project is made from. */
import type { Agent, ExtensionReport } from "@pi-agent/kernel";
import type { LoadFlags, LoadOptions } from "./options.ts";
import { belongsToProject, type Places } from "./places.ts";
import type { LoadPlan } from "./plan.ts";
import { recall } from "./recall.ts";
import type { Roster } from "./roster.ts";
import type { Stores } from "./stores.ts";
import type { Evidence, TrustGrant } from "./trust.ts";
import { listRecords, readTrust, type StoredTrust, type TrustRecord } from "./trust-store.ts";
import { findTwins } from "./worktree.ts";

/** Gathers it for the project at `places`. `before`: the decision about it that holds so far in this process. */
export function collectEvidence(from: {
  options: LoadOptions;
  places: Places;
  agent: Agent;
  roster: Roster;
  stores: Pick<Stores, "settings">;
  before: TrustGrant | undefined;
  flags: Pick<LoadFlags, "approve" | "trust">;
  readStored: () => StoredTrust;
  onFault: (fault: unknown) => void;
}): Evidence {
  const { options, places, agent, flags, before, onFault } = from;
  const { mode, trust, signal } = options;
  const evidence: Evidence = { approve: flags.approve, pin: flags.trust, answer: trust, signal, onFault };
  // A program that says nothing about trust gets none.
  if (!mode) return evidence;
  evidence.ask = mode.askTrust;
  evidence.stored = () => addRecord({ approvals: [], notes: [] }, before);
  // Where the person's own folder turns out to lie in this project, nothing that it holds speaks for the person.
  if (places.foreignAgentDir !== undefined) return evidence;
  evidence.defaultTrust = from.stores.settings.userValue("defaultProjectTrust") as Evidence["defaultTrust"];
  evidence.stored = () => addRecord(from.readStored(), before);
  evidence.findTwin = (plan) => findTwin(places, plan);
  // Nor do handlers vote about the project that their own code lies in.
  const isInside = ({ owner }: ExtensionReport) => owner.path !== undefined && belongsToProject(places, owner.path);
  if (from.roster.of("own").some(isInside)) return evidence;
  evidence.vote = async (plan) => {
    const answer = await agent.dispatch("project_trust", { cwd: places.cwd, plan });
    if (answer?.trusted !== "yes" && answer?.trusted !== "no") return undefined;
    return { trusted: answer.trusted, isRemembered: answer.remember === true };
  };
  return evidence;
}

/** Finds a worktree of the same repository that was decided about, best one where all of this was approved (F040). */
function findTwin({ agentDir, boundary }: Places, { items }: LoadPlan): LoadPlan["twin"] {
  const held = items.filter(({ verdict }) => verdict === "held");
  let known: LoadPlan["twin"];
  const decided = () => listRecords(agentDir).map(({ project }) => project);
  for (const project of findTwins(boundary, decided)) {
    const own = readTrust(agentDir, project).approvals.filter((record) => record.project === project);
    if (own.length === 0) continue;
    if (held.every((item) => recall(own, item) === "loaded")) return { project, isSame: true };
    known ??= { project, isSame: false };
  }
  return known;
}

/** What was let load in this process is let load again as it was; what it was not, is asked about anew. */
function addRecord(stored: StoredTrust, before: TrustGrant | undefined): StoredTrust {
  if (!before) return stored;
  const { decision, plan, key, isFolderBound } = before;
  const isText = decision === "text";
  // Where what is not named loads, or is not asked about, what was held is named.
  const isHeldNamed = isText || isFolderBound;
  const items = plan.items.filter(({ verdict }) => verdict === "loaded" || (isHeldNamed && verdict === "held"));
  const resources = items.map(({ id, kind, digest, members, verdict }) => {
    return [id, { kind, digest, members, ...(verdict === "held" && { held: true }) }];
  });
  const record: TrustRecord = {
    version: 1,
    project: key,
    bound: isFolderBound ? "folder" : "content",
    decision: isText ? "text" : "trusted",
    below: false,
    resources: Object.fromEntries(resources) as TrustRecord["resources"],
    decidedAt: before.decidedAt,
    decidedBy: "flag",
  };
  // What was said last counts first, be it in another process.
  const isNewer = ({ decidedAt }: TrustRecord) => decidedAt > before.decidedAt;
  const older = stored.approvals.filter((each) => !isNewer(each));
  // Among the older ones, that only texts may load was said before all might.
  const others = decision === "trusted" ? older.filter((each) => each.decision !== "text") : older;
  return { ...stored, approvals: [...stored.approvals.filter(isNewer), record, ...others] };
}
