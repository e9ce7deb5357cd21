/** `pi config`: turns single resources of packages on and off, on a screen or by words. */
import { maskSecrets } from "@pi-agent/kernel";
import { findInstalled, scopeOf, turnResource } from "@pi-agent/loader";
import { EXIT_CODES } from "../exit-codes.ts";
import { findPackage, findResource, hintElsewhere, hintNearest, listResources } from "../packages/find-package.ts";
import { isPersonThere } from "../packages/question.ts";
import { refuse } from "../packages/refuse.ts";
import { isProblem, type PackageRequest, readRequest, wordRefusal } from "../packages/request.ts";
import { nameOf, wordTurned } from "../packages/word-package.ts";
import { printError } from "../print-error.ts";
import type { Problem } from "../problem.ts";
import { toTerminalName } from "../terminal-text.ts";
import type { BuiltInIo } from "./built-in.ts";

const FORM = { command: "config", switches: ["--local", "--json"], mostWords: 3 };

/** Does what was typed; answers the exit code. */
export async function runConfig(args: readonly string[], io: BuiltInIo): Promise<number> {
  const request = readRequest(args, FORM, io.host.flags);
  if (isProblem(request)) return refuse(request);
  const [verb, ...others] = request.words;
  const problem = judge(request);
  if (problem) return refuse(problem);
  if (request.scope === "project" && io.packages.projectFault) throw io.packages.projectFault;
  if (verb === "list") return list(request, io);
  if (verb === undefined) return show(request, io);
  const [text = "", path = ""] = others;
  return turn({ text, path, on: verb === "on" }, request, io);
}

function judge(request: PackageRequest) {
  const [verb, ...others] = request.words;
  const refuseIt = (why: string) => wordRefusal("config", why);
  if (request.has("--json") && verb !== "list") return refuseIt("--json is for pi config list");
  if (verb === undefined && !isPersonThere())
    return wordRefusal("config", "its screen takes a terminal", "pi config list, on and off do without");
  if (verb === "list" && others.length > 0) return refuseIt("list takes no more words");
  if ((verb === "on" || verb === "off") && others.length !== 2)
    return refuseIt(`${verb} takes a package and the path of one of its resources`);
  if (verb !== undefined && !["list", "on", "off"].includes(verb)) return refuseIt("its words are list, on and off");
  return undefined;
}

async function list({ scope, has }: PackageRequest, { packages: { context }, output }: BuiltInIo): Promise<number> {
  const installed = await findInstalled(context, scopeOf(context, scope));
  if (has("--json")) {
    const data = installed.map((each) => {
      const { identity, source, name, version, state } = each;
      return { identity, scope, source, name, version, state, resources: listResources(each) };
    });
    output.write(`${JSON.stringify(data, undefined, 2)}\n`);
    return EXIT_CODES.answered;
  }
  for (const each of installed) {
    const lines = listResources(each).map(({ path, isOn }) => `  ${isOn ? "on " : "off"}  ${toTerminalName(path)}\n`);
    output.write(`${nameOf(each)}\n${lines.join("") || "  nothing that can be turned on or off\n"}`);
  }
  if (installed.length === 0) output.write("No packages are installed. pi install brings one.\n");
  return EXIT_CODES.answered;
}

async function turn(
  { text, path: typed, on }: { text: string; path: string; on: boolean },
  { scope }: PackageRequest,
  { packages, output, host: { cwd }, exit: { signal } }: BuiltInIo,
): Promise<number> {
  const context = { ...packages.context, signal };
  const { settings } = scopeOf(context, scope);
  const installed = await findInstalled(context, scopeOf(context, scope));
  const of = findPackage(text, installed, { folder: cwd, home: context.home });
  if (!of) {
    const wish = { context, command: [`config ${on ? "on" : "off"}`, typed], text, scope, cwd } as const;
    const names = installed.flatMap(({ name, source }) => [name, source]);
    const hint = (await hintElsewhere(wish)) ?? hintNearest(text, names);
    return tell({ what: `${toTerminalName(maskSecrets(text))} is not declared in ${settings}`, hint });
  }
  const resource = findResource(of, typed);
  if ("what" in resource) return tell(resource);
  const { list: kind, path } = resource;
  await turnResource(context, { scope, identity: of.identity, list: kind, path, on });
  if (scope === "project") await packages.approveChange();
  output.write(`${wordTurned(of, path, on)}\n`);
  return EXIT_CODES.answered;
}

function tell(problem: Problem): number {
  printError(problem);
  return EXIT_CODES.failed;
}

async function show({ scope }: PackageRequest, { packages, output, exit: { signal } }: BuiltInIo): Promise<number> {
  const { showConfig } = await import("../packages/config-screen.ts");
  const { context, projectFault } = packages;
  const options = { context: { ...context, signal }, scope, projectFault: projectFault?.message, signal };
  const { how, changed, changes } = await showConfig({ input: process.stdin, output: process.stderr }, options);
  if (changed.has("project")) await packages.approveChange();
  output.write(changes.map((line) => `${line}\n`).join("") || "Nothing was changed.\n");
  return how === "done" ? EXIT_CODES.answered : EXIT_CODES.SIGINT;
}
