/** `pi doctor`: what is loaded, what is missing, what is wrong. */
import type { Agent, Host } from "@pi-agent/kernel";
import type { LoadReport } from "@pi-agent/loader";
import { EXIT_CODES } from "../exit-codes.ts";
import { formatError, toProblem } from "../print-error.ts";
import { formatTable } from "../table.ts";
import { toTerminalLine } from "../terminal-text.ts";
import { BUILT_IN, type BuiltInIo } from "./built-in.ts";

const CELL_WIDTH = 100;

/** Prints the report; answers the exit code, which is 1 when something is wrong. */
export async function runDoctor({ agent, host, report, output }: BuiltInIo): Promise<number> {
  const sections: [string, string][] = [
    ["Places", formatTable(listPlaces(report))],
    ["Extensions", formatTable(listExtensions(report))],
    ["Providers", formatTable(listProviders(agent, host))],
    ["Sub-commands", formatTable(listCommands(agent))],
    ["Flags of extensions", formatTable(listFlags(agent))],
    ["Held back", report.heldLine() ?? "nothing"],
    ["Problems", listProblems(report)],
  ];
  output.write(sections.map(([title, text]) => `${title}\n${indent(text)}`).join("\n"));
  const isWell = report.problems.length === 0 && report.extensions.every(({ state }) => state === "loaded");
  return isWell ? EXIT_CODES.answered : EXIT_CODES.failed;
}

function listPlaces({ cwd, boundary, agentDir, decision, decidedBy }: LoadReport): string[][] {
  return [
    ["folder", cwd],
    ["project", `${boundary} (${decision}, by ${decidedBy})`],
    ["agent directory", agentDir],
    ["node", process.version],
  ].map((row) => row.map(show));
}

function listExtensions({ extensions }: LoadReport): string[][] {
  return extensions.map(({ owner, state, loadMs, error }) =>
    [state, `${loadMs.toFixed(1)} ms`, owner.scope, owner.name, error?.message ?? ""].map(show),
  );
}

function listProviders(agent: Agent, host: Host): string[][] {
  const variables = new Map([...agent.registry("provider").values()].map(({ value }) => [value.id, value.env]));
  const ids = new Set([...variables.keys(), ...(host.models?.list() ?? []).map(({ provider }) => provider)]);
  return [...ids].map((id) => {
    const env = variables.get(id) ?? [];
    return [
      id,
      host.models?.hasCredentials(id) ? "ready" : "no key",
      env.length > 0 ? `looks for ${env.join(", ")}` : "",
    ];
  });
}

function listCommands(agent: Agent): string[][] {
  const registered = [...agent.registry("cli")].map(([name, { value }]) => [`pi ${name}`, value.summary]);
  return [...[...BUILT_IN].map(([name, { summary }]) => [`pi ${name}`, summary]), ...registered];
}

function listFlags(agent: Agent): string[][] {
  return [...agent.registry("flag")].map(([name, { value, owner }]) => {
    const short = value.short === undefined ? "" : `-${value.short}, `;
    const argument = value.type === "string" ? ` ${(value.choices ?? ["<text>"]).join("|")}` : "";
    return [`${short}--${name}${argument}`, value.description ?? "", owner.name].map(show);
  });
}

function listProblems({ problems }: LoadReport): string {
  return problems.map((problem) => formatError(toProblem(problem), "error")).join("") || "none";
}

function show(text: string): string {
  return toTerminalLine(text, CELL_WIDTH);
}

function indent(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, "  ").concat("\n");
}
