/** Gathers what a decision about a project is made from. */
import type { Agent, ExtensionReport, Json } from "@pi-agent/kernel";
import type { LoadOptions } from "./options.ts";
import { belongsToProject, type Places } from "./places.ts";
import type { Evidence, TrustGrant } from "./trust.ts";
import { readTrust, type StoredTrust, type TrustRecord } from "./trust-store.ts";

/** Gathers it for the project at `places`. `before`: the decision about it that holds so far in this process. */
export function collectEvidence(from: {
  options: LoadOptions;
  places: Places;
  agent: Agent;
  approve: boolean | undefined;
  defaultTrust: Json | undefined;
  /** The person's extensions. */
  own: readonly ExtensionReport[];
  before: TrustGrant | undefined;
  onNote: (note: StoredTrust["notes"][number]) => void;
  onFault: (fault: unknown) => void;
}): Evidence {
  const { options, places, agent, approve, before, onFault } = from;
  const { mode, trust, signal } = options;
  const evidence: Evidence = { approve, answer: trust, signal, onFault };
  // A program that says nothing about trust gets none.
  if (!mode) return evidence;
  evidence.ask = mode.askTrust;
  evidence.stored = () => addRecord({ approvals: [], notes: [] }, before);
  // Where the person's own folder turns out to lie in this project, nothing that it holds speaks for the person.
  if (places.foreignAgentDir !== undefined) return evidence;
  evidence.defaultTrust = from.defaultTrust as Evidence["defaultTrust"];
  evidence.stored = () => {
    const stored = readTrust(places.agentDir, places.boundary);
    for (const note of stored.notes) from.onNote(note);
    return addRecord(stored, before);
  };
  // Nor do handlers vote about the project that their own code lies in.
  if (from.own.some(({ owner }) => owner.path !== undefined && belongsToProject(places, owner.path))) return evidence;
  evidence.vote = async (plan) => {
    const answer = await agent.dispatch("project_trust", { cwd: places.cwd, plan });
    return answer?.trusted === "yes" || answer?.trusted === "no" ? answer.trusted : undefined;
  };
  return evidence;
}

/** What was let load in this process is let load again as it was; what it was not, is asked about anew. */
function addRecord(stored: StoredTrust, before: TrustGrant | undefined): StoredTrust {
  if (!before) return stored;
  const { decision, plan, key } = before;
  const isText = decision === "text";
  const items = plan.items.filter(({ verdict }) => verdict === "loaded" || (isText && verdict === "held"));
  const record: TrustRecord = {
    version: 1,
    project: key,
    bound: "content",
    decision: isText ? "text" : "trusted",
    below: false,
    resources: Object.fromEntries(items.map(({ id, kind, digest, members }) => [id, { kind, digest, members }])),
    decidedAt: new Date().toISOString(),
    decidedBy: "flag",
  };
  // What was said last counts, as a whole.
  const others =
    decision === "trusted" ? stored.approvals.filter((each) => each.decision !== "text") : stored.approvals;
  return { ...stored, approvals: [record, ...others] };
}
