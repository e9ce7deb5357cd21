/** `pi install [source]`: one package, or all that settings and lock file name. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  findInstalled,
  type InstalledPackage,
  installAll,
  installPackage,
  type PackageContext,
  scopeOf,
  wordPreview,
} from "@pi-agent/loader";
import { EXIT_CODES } from "../exit-codes.ts";
import { operate } from "../packages/operate.ts";
import { refuse } from "../packages/refuse.ts";
import { isProblem, type PackageRequest, readRequest, wordRefusal } from "../packages/request.ts";
import { problemOf, wordInstalled } from "../packages/word-package.ts";
import { printError } from "../print-error.ts";
import type { Problem } from "../problem.ts";
import type { BuiltInIo } from "./built-in.ts";

const FORM = {
  command: "install",
  switches: ["--local", "--yes", "--frozen"],
  values: ["--allow-scripts", "--lock"],
  mostWords: 1,
};

/** Installs what was typed; answers the exit code. */
export async function runInstall(args: readonly string[], io: BuiltInIo): Promise<number> {
  const request = readRequest(args, FORM, io.host.flags);
  if (isProblem(request)) return refuse(request);
  const problem = judge(request, io.host.cwd);
  if (problem) return refuse(problem);
  const [source] = request.words;
  return source === undefined ? installDeclared(request, io) : installOne(source, request, io);
}

function judge(request: PackageRequest, cwd: string): Problem | undefined {
  const isFrozen = request.has("--frozen");
  const lock = request.valueOf("--lock");
  if (isFrozen && request.words.length > 0)
    return wordRefusal("install", "--frozen is about everything that is locked, and not about one source");
  if (lock === undefined) return undefined;
  if (!isFrozen) return wordRefusal("install", "--lock goes back to another lock file, which takes --frozen");
  if (existsSync(resolve(cwd, lock))) return undefined;
  return wordRefusal("install", `there is no lock file ${resolve(cwd, lock)}`, "name the one to go back to");
}

function installOne(source: string, request: PackageRequest, io: BuiltInIo): Promise<number> {
  const { scope } = request;
  return operate(io, request, async (operation) => {
    const { context } = operation;
    const outcome = await installPackage(context, source, {
      scope,
      cwd: io.host.cwd,
      allowScripts: request.listOf("--allow-scripts"),
      confirm: (preview) => operation.confirm(wordPreview(preview), `Install it ${wordWhere(context, request)}?`),
    });
    if (outcome.status === "declined") return operation.tellDeclined();
    await operation.approve();
    const { preview, folder, status } = outcome;
    const installed = await findInstalled(context, scopeOf(context, scope));
    const isMeant = (each: InstalledPackage) => (preview ? each.identity === preview.identity : each.folder === folder);
    return tellFound(installed.filter(isMeant), status === "installed" ? "Installed" : "Already installed:", io);
  });
}

function installDeclared(request: PackageRequest, io: BuiltInIo): Promise<number> {
  const { scope } = request;
  const lock = request.valueOf("--lock");
  return operate(io, request, async (operation) => {
    const { context } = operation;
    const { status, installed } = await installAll(context, {
      scope,
      isFrozen: request.has("--frozen"),
      lockFile: lock === undefined ? undefined : resolve(io.host.cwd, lock),
      allowScripts: request.listOf("--allow-scripts"),
      confirm: (previews) => {
        const lines = previews.flatMap((preview) => [...wordPreview(preview), ""]).slice(0, -1);
        return operation.confirm(lines, `Install ${wordWhat(previews.length)} ${wordWhere(context, request)}?`);
      },
    });
    if (status === "declined") return operation.tellDeclined();
    await operation.approve();
    const found = await findInstalled(context, scopeOf(context, scope));
    if (found.length === 0) io.output.write(`${scopeOf(context, scope).settings} declares no packages.\n`);
    if (lock !== undefined) return tellFound(found, "There now:", io);
    if (status === "unchanged" && found.length > 0) io.output.write("What is declared is there as it is locked.\n");
    const isNew = ({ source }: InstalledPackage) => installed.some((each) => each.source === source);
    return tellFound(
      found.filter((each) => isNew(each) || problemOf(each)),
      "Installed",
      io,
    );
  });
}

/** Tells what is there now, and what does not load; answers the exit code. */
function tellFound(found: readonly InstalledPackage[], verb: string, { output }: BuiltInIo): number {
  const problems = found.flatMap((each) => problemOf(each) ?? []);
  const lines = found.filter((each) => !problemOf(each)).flatMap((each) => wordInstalled(verb, each));
  output.write(lines.map((line) => `${line}\n`).join(""));
  for (const problem of problems) printError(problem);
  return problems.length === 0 ? EXIT_CODES.answered : EXIT_CODES.failed;
}

function wordWhat(number: number): string {
  return number === 1 ? "it" : `these ${number} packages`;
}

function wordWhere(context: PackageContext, { scope }: PackageRequest): string {
  return `${scope === "user" ? "for you" : "for this project"} (${scopeOf(context, scope).settings})`;
}
