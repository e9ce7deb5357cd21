/** `pi update [source]`: packages to what their sources mean today. What is pinned stays, and is said. */
import { findInstalled, type PackageUpdate, scopeOf, updatePackages } from "@pi-agent/loader";
import { EXIT_CODES } from "../exit-codes.ts";
import { withOtherScope } from "../packages/find-package.ts";
import { operate } from "../packages/operate.ts";
import { refuse } from "../packages/refuse.ts";
import { isProblem, type PackageRequest, readRequest, wordRefusal } from "../packages/request.ts";
import { wordUpdate, wordUpdates } from "../packages/word-update.ts";
import { printError, printWarning, toProblem } from "../print-error.ts";
import type { Problem } from "../problem.ts";
import { toTerminalName } from "../terminal-text.ts";
import type { BuiltInIo } from "./built-in.ts";

const FORM = {
  command: "update",
  switches: ["--local", "--yes", "--all", "--extensions", "--self"],
  values: ["--allow-scripts"],
  ownFlags: ["extension"],
  mostWords: 1,
};
// What people who know Pi type for the program itself.
const SELF = new Set(["self", "pi"]);

/** Updates what was typed; answers the exit code, which is 1 where a package could not be updated. */
export async function runUpdate(args: readonly string[], io: BuiltInIo): Promise<number> {
  const request = readRequest(args, FORM, io.host.flags);
  if (isProblem(request)) return refuse(request);
  const sources = [...request.words, ...namedByFlag(io)];
  const problem = judge(request, sources);
  if (problem) return refuse(problem);
  if (!request.has("--all")) return updateScope(sources[0], request, io);
  const code = await updateScope(undefined, { ...request, scope: "user" }, io);
  if (io.exit.signal.aborted || !(await hasProjectPackages(io))) return code;
  return Math.max(code, await updateScope(undefined, { ...request, scope: "project" }, io));
}

/** `--extension <source>`, as Pi has it: elsewhere this flag loads one. */
function namedByFlag({ host }: BuiltInIo): string[] {
  const named = host.flags.get("extension");
  return Array.isArray(named) ? named.map(String) : [];
}

function judge(request: PackageRequest, sources: readonly string[]): Problem | undefined {
  const [source, another] = sources;
  if (request.has("--self") || (source !== undefined && SELF.has(source))) {
    const hint = "npm install -g @pi-agent/cli@latest brings the newest pi; pi update alone is about packages";
    return wordRefusal("update", "pi does not update itself", hint);
  }
  if (another !== undefined) return wordRefusal("update", "it takes one source at a time");
  if (source !== undefined && (request.has("--all") || request.has("--extensions")))
    return wordRefusal("update", "--all and --extensions are about all packages, and a source is about one");
  if (request.has("--all") && request.has("--local"))
    return wordRefusal("update", "--all is about your packages and the project's, and -l about the project's alone");
  return undefined;
}

async function hasProjectPackages({ packages: { context, projectFault } }: BuiltInIo): Promise<boolean> {
  if (projectFault) printWarning(toProblem(projectFault));
  if (context.projectDir === undefined) return false;
  return (await findInstalled(context, scopeOf(context, "project"))).length > 0;
}

function updateScope(source: string | undefined, request: PackageRequest, io: BuiltInIo): Promise<number> {
  const { scope } = request;
  const { cwd } = io.host;
  return operate(io, request, async (operation) => {
    const { context } = operation;
    const where = scope === "user" ? "of yours" : "of this project";
    const options = {
      scope,
      source,
      cwd,
      allowScripts: request.listOf("--allow-scripts"),
      confirm: (updates: readonly PackageUpdate[]) => {
        const number = updates.filter(({ status }) => status === "update").length;
        return operation.confirm(wordUpdates(updates), `Update ${wordNumber(number)} ${where}?`);
      },
    };
    const { status, updates } = await withOtherScope(updatePackages(context, options), {
      context,
      text: source,
      command: ["update"],
      scope,
      cwd,
    });
    const isDone = status !== "declined";
    if (status === "updated") await operation.approve();
    if (isDone) io.output.write(wordOutcome(updates, source !== undefined, where));
    const failed = updates.filter((each) => each.status === "failed");
    for (const each of failed) printError(wordFailed(each, request));
    if (!isDone) return operation.tellDeclined();
    return failed.length === 0 ? EXIT_CODES.answered : EXIT_CODES.failed;
  });
}

/** Of many packages those are told that changed or are pinned, and the others counted. */
function wordOutcome(updates: readonly PackageUpdate[], isOne: boolean, where: string): string {
  const isTold = ({ status }: PackageUpdate) =>
    status === "update" || status === "pinned" || (isOne && status === "current");
  const lines = updates.filter(isTold).map((each) => wordUpdate(each, "did"));
  const current = updates.filter(({ status }) => status === "current").length;
  if (updates.length === 0)
    lines.push(`No package ${where} comes from a registry or a repository: there is nothing to update.`);
  if (!isOne && current > 0) lines.push(`As new as can be: ${wordNumber(current)} ${where}.`);
  return lines.map((line) => `${line}\n`).join("");
}

function wordFailed({ source, reason }: PackageUpdate, { scope }: PackageRequest): Problem {
  const name = toTerminalName(source);
  const hint = `once that is mended: pi update${scope === "project" ? " -l" : ""} ${name}`;
  return { what: `${name} was not updated, and stays as it was`, why: reason, hint };
}

function wordNumber(number: number): string {
  return number === 1 ? "1 package" : `${number} packages`;
}
