/** `pi trust …`: what a project would load and what was decided about it, here or in another folder. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { forgetTrust, listDecisions, type PlanItem } from "@pi-agent/loader";
import { EXIT_CODES } from "../exit-codes.ts";
import { printError, printWarning } from "../print-error.ts";
import type { Problem } from "../problem.ts";
import { reportProblems } from "../report-load.ts";
import { toTerminalName } from "../terminal-text.ts";
import { judgeRequest, performTrust, type TrustTarget } from "../trust/perform.ts";
import { parseRequest, type TrustRequest } from "../trust/request.ts";
import { describeDecisions } from "../trust/status.ts";
import { findTarget } from "../trust/target.ts";
import type { BuiltInIo } from "./built-in.ts";

/** Does what was typed; answers the exit code. Nothing of a project is imported for it. */
export async function runTrust(args: readonly string[], io: BuiltInIo): Promise<number> {
  const request = parseRequest(args, "pi trust");
  if ("what" in request) return refuse(request);
  if (request.verb === "list") return listAll(request, io);
  const { target } = request;
  if (target === undefined) return perform(request, io, { of: io });
  const found = findTarget(io.report.plan, target);
  if ("problem" in found) {
    const isGone = request.verb === "forget" && !existsSync(resolve(io.host.cwd, target));
    return isGone ? forgetGone(target, io) : refuse(found.problem);
  }
  if ("item" in found) {
    const problem = judgeRequest(request, found.item);
    return problem ? refuse(problem) : perform(request, io, { of: io, item: found.item });
  }
  const other = await io.loadAt(found.folder);
  try {
    return await perform(request, io, { of: other });
  } finally {
    await other.dispose();
  }
}

async function perform(
  request: TrustRequest,
  { output }: BuiltInIo,
  { of, item }: { of: TrustTarget; item?: PlanItem },
): Promise<number> {
  output.write(await performTrust(of, request, { item, when: "at the next start" }));
  reportProblems(of.report);
  return EXIT_CODES.answered;
}

/** A folder that is gone can be loaded no more, but what is remembered of it can be taken back. */
async function forgetGone(target: string, { report, host, output }: BuiltInIo): Promise<number> {
  const project = resolve(host.cwd, target);
  const wasKnown = await forgetTrust(report.agentDir, project);
  output.write(`${wasKnown ? "Forgotten" : "Nothing was remembered about"}: ${toTerminalName(project)}\n`);
  return EXIT_CODES.answered;
}

function listAll({ isJson }: TrustRequest, { report, output }: BuiltInIo): number {
  const listed = listDecisions(report.agentDir);
  output.write(isJson ? `${JSON.stringify(listed, null, 2)}\n` : describeDecisions(listed));
  if (!isJson) for (const { path, message } of listed.notes) printWarning({ what: `${path}: ${message}` });
  return EXIT_CODES.answered;
}

function refuse(problem: Problem): number {
  printError(problem);
  return EXIT_CODES.usage;
}
