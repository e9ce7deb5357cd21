/** `pi list`: every package that is declared, and what became of it. Without `--outdated` nothing is fetched. */
import { isAgentError } from "@pi-agent/kernel";
import { findInstalled, findNewer, type InstalledPackage, type PackageScope, scopeOf } from "@pi-agent/loader";
import { EXIT_CODES } from "../exit-codes.ts";
import { joinPackages, printJson, printTable } from "../packages/list-packages.ts";
import { createProgress } from "../packages/progress.ts";
import { refuse } from "../packages/refuse.ts";
import { isProblem, type PackageRequest, readRequest } from "../packages/request.ts";
import { problemOf } from "../packages/word-package.ts";
import { printError, printWarning, toProblem } from "../print-error.ts";
import type { BuiltInIo } from "./built-in.ts";

const FORM = { command: "list", switches: ["--local", "--json", "--outdated"], mostWords: 0 };
// Of a terminal that does not tell its size.
const USUAL_COLUMNS = 80;

/** Prints the list; answers the exit code, which is 1 where a whole scope could not be read. */
export async function runList(args: readonly string[], io: BuiltInIo): Promise<number> {
  const request = readRequest(args, FORM, io.host.flags);
  if (isProblem(request)) return refuse(request);
  const { output, packages } = io;
  if (request.scope === "project" && packages.projectFault) throw packages.projectFault;
  const { installed, faults } = await findAll(request, io);
  const hasNewer = request.has("--outdated");
  const newer = hasNewer ? await askNewer(installed, io) : [];
  const listed = joinPackages(installed, newer);
  if (request.has("--json")) output.write(printJson(listed));
  else {
    const width = output.stream.isTTY ? output.stream.columns || USUAL_COLUMNS : undefined;
    const isNothing = listed.length === 0 && faults.length === 0;
    output.write(
      isNothing ? "No packages are installed. pi install brings one.\n" : printTable(listed, { hasNewer, width }),
    );
    for (const problem of listed.flatMap((each) => problemOf(each) ?? [])) printWarning(toProblem(problem));
    for (const { name, newer: of } of listed) {
      if (of?.reason !== undefined) printWarning({ what: `What is newer of ${name} is not known`, why: of.reason });
    }
  }
  if (packages.projectFault) printWarning(toProblem(packages.projectFault));
  for (const fault of faults) printError(fault);
  return faults.length === 0 ? EXIT_CODES.answered : EXIT_CODES.failed;
}

/** A scope whose files cannot be read keeps the other one from nothing. */
async function findAll(
  request: PackageRequest,
  { packages: { context } }: BuiltInIo,
): Promise<{ installed: InstalledPackage[]; faults: unknown[] }> {
  const scopes: PackageScope["name"][] = request.scope === "project" ? ["project"] : ["user", "project"];
  const installed: InstalledPackage[] = [];
  const faults: unknown[] = [];
  for (const name of scopes.filter((each) => each === "user" || context.projectDir !== undefined)) {
    try {
      installed.push(...(await findInstalled(context, scopeOf(context, name))));
    } catch (thrown) {
      if (!isAgentError(thrown)) throw thrown;
      faults.push(thrown);
    }
  }
  return { installed, faults };
}

async function askNewer(installed: readonly InstalledPackage[], { packages, exit }: BuiltInIo) {
  const progress = createProgress();
  progress.report({ step: "resolving", what: "what is newer" });
  try {
    return await findNewer({ ...packages.context, signal: exit.signal }, installed);
  } finally {
    progress.end();
  }
}
