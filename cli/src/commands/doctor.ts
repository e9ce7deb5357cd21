/** `pi doctor [--json]`: what is loaded and what it costs, what is missing, what is wrong. */
import { EXIT_CODES } from "../exit-codes.ts";
import { formatError } from "../print-error.ts";
import type { Problem } from "../problem.ts";
import { formatTable } from "../table.ts";
import { toTerminalLine } from "../terminal-text.ts";
import { storedRows } from "../trust/status.ts";
import type { BuiltInIo } from "./built-in.ts";
import { type Diagnosis, diagnose, type ProblemLine } from "./diagnosis.ts";
import { refuseArguments } from "./refuse-arguments.ts";

const INDENT = "  ";
// Of a terminal that does not tell its size.
const USUAL_COLUMNS = 80;

/** Prints the report; answers the exit code, which is 1 when something is wrong. */
export async function runDoctor(args: readonly string[], io: BuiltInIo): Promise<number> {
  if (args.some((arg) => arg !== "--json")) return refuseArguments(["doctor", ...args], "pi doctor [--json]");
  const diagnosis = await diagnose(io);
  io.output.write(args.includes("--json") ? `${JSON.stringify(diagnosis, null, 2)}\n` : describe(diagnosis, io));
  return diagnosis.isWell ? EXIT_CODES.answered : EXIT_CODES.failed;
}

function describe(diagnosis: Diagnosis, { output }: BuiltInIo): string {
  const width = output.stream.isTTY ? (output.stream.columns || USUAL_COLUMNS) - INDENT.length : undefined;
  const problems = diagnosis.problems.map((problem) => formatError(wordLine(problem), "error")).join("");
  const table = (rows: readonly (readonly string[])[]) =>
    formatTable(
      rows.map((row) => row.map((cell) => toTerminalLine(cell, Number.POSITIVE_INFINITY))),
      width,
    );
  const sections: [string, string][] = [
    ["Places", table(placeRows(diagnosis))],
    ["Trust", table(trustRows(diagnosis))],
    ["Project", table(planRows(diagnosis)) || "brings nothing to load"],
    ["Packages", table(packageRows(diagnosis)) || "none are installed"],
    ["Extensions", `${table(extensionRows(diagnosis))}${table(slowRows(diagnosis))}`],
    ["Providers", table(providerRows(diagnosis))],
    ["Sub-commands", table(diagnosis.commands.map(({ name, summary }) => [`pi ${name}`, summary]))],
    ["Flags of extensions", table(flagRows(diagnosis))],
    ["Held back", diagnosis.held ?? "nothing"],
    ["Problems", problems || "none"],
  ];
  return sections.map(([title, text]) => `${title}\n${indent(text)}`).join("\n");
}

function placeRows({ places }: Diagnosis): string[][] {
  const { folder, project, agentDirectory, node } = places;
  return [
    ["folder", folder],
    ["project", project],
    ["agent directory", agentDirectory],
    ["node", node],
  ];
}

function trustRows({ trust }: Diagnosis): string[][] {
  const { decision, stored, damaged } = trust;
  return [
    ["decision", decision],
    ...storedRows(stored),
    ...damaged.map(({ path, message }) => ["damaged", `${path}: ${message}`]),
  ];
}

/** What the plan says, and what is. */
function planRows({ plan }: Diagnosis): string[][] {
  if (plan.length === 0) return [];
  const rows = plan.map(({ planned, isInForce, isAsPlanned, id, reason }) => {
    const is = isInForce ? "in force" : "not in force";
    return [planned, isAsPlanned ? "as planned" : `NOT as planned: ${is}`, id, reason];
  });
  return [["plan", "what is", "resource", "because"], ...rows];
}

function packageRows({ packages }: Diagnosis): string[][] {
  return packages.map(({ name, version = "", scope, state, source }) => [state, name, version, scope, source]);
}

/** What a start costs: hooks run in it, and the prompt is what the next run would send. */
function extensionRows({ extensions }: Diagnosis): string[][] {
  const rows = extensions.map(({ state, loadMs, hookMs, promptTokens, errors, scope, name }) => {
    const [load, hooks] = [loadMs, hookMs].map((ms) => ms.toFixed(1));
    return [state, load ?? "", hooks ?? "", String(promptTokens), String(errors), scope, name];
  });
  return [["state", "load ms", "hook ms", "tokens", "errors", "scope", "name"], ...rows];
}

function slowRows({ extensions }: Diagnosis): string[][] {
  return extensions.flatMap(({ name, slow }) => (slow.length > 0 ? [["slow", name, `in ${slow.join(", ")}`]] : []));
}

function providerRows({ providers }: Diagnosis): string[][] {
  return providers.map(({ id, isReady, env }) => [
    id,
    isReady ? "ready" : "no key",
    env.length > 0 ? `looks for ${env.join(", ")}` : "",
  ]);
}

function flagRows({ flags }: Diagnosis): string[][] {
  return flags.map(({ name, short, takes, description, owner }) => {
    const before = short === undefined ? "" : `-${short}, `;
    const argument = takes === "nothing" ? "" : ` ${takes.join("|")}`;
    return [`${before}--${name}${argument}`, description ?? "", owner];
  });
}

function wordLine({ message, owner, hint }: ProblemLine): Problem {
  const from = owner === undefined || message.includes(owner) ? "" : ` (from ${owner})`;
  return { what: `${message}${from}`, hint };
}

function indent(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, INDENT).concat("\n");
}
