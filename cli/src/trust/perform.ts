/** Carries out what was asked of trust about one project, for the sub-command and for a conversation alike. */
import { type Loaded, listDecisions, type PlanItem, type TrustAnswer, type TrustScope } from "@pi-agent/loader";
import type { Problem } from "../problem.ts";
import { describeDifference } from "./difference.ts";
import { recallProject } from "./memory.ts";
import { describePlan, toData } from "./plan-table.ts";
import { answerOf, type TrustRequest } from "./request.ts";
import { describeAnswer, describeDecisions, describeForgotten, describeStatus, type When } from "./status.ts";

export type TrustTarget = Pick<Loaded, "report" | "trust">;

/** Does it and answers the text to show. Fails as `TrustControl` does, and with `trust_not_saved`. */
export async function performTrust(
  { report, trust }: TrustTarget,
  request: TrustRequest,
  { item, when }: { item?: PlanItem; when: When },
): Promise<string> {
  const { verb, isBelow: below, isJson } = request;
  const answer = answerOf(request);
  if (answer !== undefined) {
    return answerTrust(trust, { answer, scope: { only: item?.id, below }, item, when });
  }
  if (verb === "forget") {
    const { plan, wasKnown } = await trust.forget();
    return describeForgotten(plan, wasKnown);
  }
  if (verb === "list") return describeDecisions(listDecisions(report.agentDir));
  if (verb === "diff") return describeChanges(report, item);
  if (verb === "show") return isJson ? `${JSON.stringify(toData(report), null, 2)}\n` : describePlan(report);
  return describeStatus(report);
}

/** Gives an answer and words what is true then. Fails as `TrustControl` does, and where it could not be saved. */
export async function answerTrust(
  trust: TrustTarget["trust"],
  { answer, scope, item, when }: { answer: TrustAnswer; scope: TrustScope; item?: PlanItem; when: When },
): Promise<string> {
  const { plan, fault } = await trust.decide(answer, scope);
  if (fault) throw fault;
  return describeAnswer(plan, { answer, item, below: scope.below, when });
}

/** Tells what cannot be asked of one resource alone. */
export function judgeRequest({ verb, isFolder, isBelow }: TrustRequest, item: PlanItem): Problem | undefined {
  const what = `trust ${verb} ${item.id} cannot be done`;
  if (isFolder || isBelow) {
    const why = "--folder and --below are about a whole project";
    return { what, why, hint: `leave them out, or name no resource` };
  }
  if (verb === "text" && item.grade !== "text") {
    return {
      what,
      why: "it is no text for the model",
      hint: `write: pi trust yes ${item.id}, or: pi trust no ${item.id}`,
    };
  }
  if (verb === "show" || verb === "forget") {
    return {
      what,
      why: `${verb} is about a whole project`,
      hint: `write: pi trust ${verb === "show" ? "diff" : "no"} ${item.id}`,
    };
  }
  return undefined;
}

async function describeChanges({ plan }: TrustTarget["report"], item: PlanItem | undefined): Promise<string> {
  const difference = await describeDifference(item ? [item] : plan.items, recallProject(plan));
  return difference === "" ? "Nothing waits for an answer that was approved before and changed.\n" : difference;
}
