/** `/trust` in a conversation: how things stand and the question anew, or an answer at once. Nobody else can take it. */
import { toAgentError } from "@pi-agent/kernel";
import type { PlanItem } from "@pi-agent/loader";
import { printError } from "../print-error.ts";
import type { Problem } from "../problem.ts";
import type { Terminal } from "../terminal.ts";
import { answerTrust, judgeRequest, performTrust, type TrustTarget } from "./perform.ts";
import { askAnew } from "./question.ts";
import { parseRequest } from "./request.ts";
import { describeAnswer, describeStatus } from "./status.ts";
import { findTarget } from "./target.ts";

export interface TrustTalk extends TrustTarget {
  terminal: Terminal;
  signal: AbortSignal;
  write: (text: string) => void;
}

/** Does what was typed after `/trust`; what is wrong, and what fails, is told. It takes effect at once. */
export async function talkTrust(talk: TrustTalk, text: string): Promise<void> {
  try {
    const words = splitLine(text);
    const problem = words.length === 0 ? await askThere(talk) : await answerThere(talk, words);
    if (problem) printError(problem);
  } catch (thrown) {
    const { message, hint } = toAgentError(thrown);
    printError({ what: `${text} failed`, why: message, hint: hint ?? "Try again when the agent is idle." });
  }
}

/** The words after the command; what is no option belongs to one path, blanks and all. */
function splitLine(text: string): string[] {
  const [, verb, ...others] = text.split(/\s+/);
  const path = others.filter((word) => !word.startsWith("--")).join(" ");
  const options = others.filter((word) => word.startsWith("--"));
  return [...(verb ? [verb] : []), ...(path ? [path] : []), ...options];
}

async function askThere({ terminal, signal, write, report, trust }: TrustTalk): Promise<undefined> {
  write(describeStatus(report));
  if (!report.plan.items.some(({ verdict, scope }) => verdict !== "refused" && scope === "project")) return;
  const { digest } = report.plan;
  const answer = await askAnew(terminal, report.plan, signal);
  // What was shown is what is answered about, not what the project has become meanwhile.
  const isLeft = answer === "not-now";
  write(
    isLeft
      ? describeAnswer(report.plan, { answer, when: "now" })
      : await answerTrust(trust, { answer, scope: { digest }, when: "now" }),
  );
}

async function answerThere(talk: TrustTalk, words: readonly string[]): Promise<Problem | undefined> {
  const request = parseRequest(words, "/trust");
  if ("what" in request) return request;
  let item: PlanItem | undefined;
  if (request.target !== undefined) {
    const found = findTarget(talk.report.plan, request.target);
    if ("problem" in found) return found.problem;
    if ("folder" in found) return ELSEWHERE;
    const problem = judgeRequest(request, found.item);
    if (problem) return problem;
    ({ item } = found);
  }
  talk.write(await performTrust(talk, request, { item, when: "now" }));
  return undefined;
}

const ELSEWHERE: Problem = {
  what: "that is a folder, not a resource of this project",
  why: "a conversation is about the project that it is held in",
  hint: "leave it out for this project; for another write in a shell: pi trust yes PATH",
};
