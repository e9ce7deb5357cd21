/** Collects what `pi doctor` tells: what is loaded and what it costs, what is missing, what is wrong. */
import type { Agent, AgentError, ExtensionReport, Host, Owner } from "@pi-agent/kernel";
import { type InstalledPackage, type LoadReport, listDecisions, listPackages } from "@pi-agent/loader";
import { listStored, type StoredWord } from "../trust/status.ts";
import { BUILT_IN, type BuiltInIo } from "./built-in.ts";
import { checkPlan, type PlanLine } from "./plan-check.ts";

export interface Diagnosis {
  isWell: boolean;
  places: { folder: string; project: string; agentDirectory: string; node: string };
  /** The decision about the project, where it is kept, and damaged files that it could have been in. */
  trust: { decision: string; stored: StoredWord[]; damaged: { path: string; message: string }[] };
  /** Everything that the project brings, as it was planned and as it is. */
  plan: PlanLine[];
  /** Every package that is declared: all bytes of all files were compared with the lock file. */
  packages: PackageLine[];
  extensions: ExtensionLine[];
  providers: { id: string; isReady: boolean; env: string[] }[];
  commands: { name: string; summary: string }[];
  flags: { name: string; short?: string; takes: "nothing" | string[]; description?: string; owner: string }[];
  held?: string;
  problems: ProblemLine[];
}

/** Times are milliseconds, tokens an estimate. */
export interface ExtensionLine
  extends Owner,
    Pick<ExtensionReport, "state" | "loadMs" | "hookMs" | "promptTokens" | "errors" | "slow"> {
  error?: ProblemLine;
}

export type PackageLine = Pick<InstalledPackage, "name" | "version" | "scope" | "state" | "source">;

export interface ProblemLine {
  code: string;
  message: string;
  hint?: string;
  owner?: string;
}

/** Collects everything. The prompt is rendered once, so that what its sections cost is counted. */
export async function diagnose(io: BuiltInIo): Promise<Diagnosis> {
  const { agent, host, report } = io;
  await agent.promptSections();
  const { packages, problems } = await checkPackages(io);
  const extensions = listExtensions(agent, report);
  const plan = checkPlan(report, host);
  const damaged = listDecisions(report.agentDir).notes;
  // What was set aside harms nobody: it is told, and counts as no fault.
  const isHarmless = ({ path }: (typeof damaged)[number]) => path.includes(".json.damaged-");
  const isWell =
    problems.length === 0 &&
    damaged.every(isHarmless) &&
    plan.every(({ isAsPlanned }) => isAsPlanned) &&
    extensions.every(({ state }) => state === "loaded");
  const { cwd, boundary, agentDir, decision, decidedBy } = report;
  return {
    isWell,
    places: {
      folder: cwd,
      project: boundary,
      agentDirectory: agentDir,
      node: process.version,
    },
    trust: { decision: `${decision}, by ${decidedBy}`, stored: listStored(report), damaged },
    plan,
    packages,
    extensions,
    providers: listProviders(agent, host),
    commands: listCommands(agent),
    flags: listFlags(agent),
    held: report.heldLine(),
    problems: problems.map(toLine),
  };
}

/** Looks at every byte of what is installed: what a start sees with a look may have been missed. */
async function checkPackages({ report, packages: { context } }: BuiltInIo) {
  const packages = await listPackages(context, { isThorough: true });
  const told = new Set(report.problems.map(({ message }) => message));
  const found = packages.flatMap(({ problem }) => (problem && !told.has(problem.message) ? [problem] : []));
  const lines = packages.map(({ name, version, scope, state, source }) => ({ name, version, scope, state, source }));
  return { packages: lines, problems: [...report.problems, ...found] };
}

/** The agent's reports go on counting; the loader's know also what never reached the agent. */
function listExtensions(agent: Agent, report: LoadReport): ExtensionLine[] {
  const live = new Map(agent.extensions.map((each) => [each.owner.name, each]));
  return report.extensions.map((loaded) => {
    const { owner, error, state, loadMs, hookMs, promptTokens, errors, slow } = live.get(loaded.owner.name) ?? loaded;
    return { ...owner, state, loadMs, hookMs, promptTokens, errors, slow, ...(error && { error: toLine(error) }) };
  });
}

function listProviders(agent: Agent, host: Host): Diagnosis["providers"] {
  const variables = new Map([...agent.registry("provider").values()].map(({ value }) => [value.id, value.env]));
  const ids = new Set([...variables.keys(), ...(host.models?.list() ?? []).map(({ provider }) => provider)]);
  return [...ids].map((id) => ({
    id,
    isReady: host.models?.hasCredentials(id) ?? false,
    env: variables.get(id) ?? [],
  }));
}

function listCommands(agent: Agent): Diagnosis["commands"] {
  const builtIn = [...BUILT_IN].map(([name, { summary }]) => ({ name, summary }));
  const registered = [...agent.registry("cli")].map(([name, { value }]) => ({ name, summary: value.summary }));
  return [...builtIn, ...registered];
}

function listFlags(agent: Agent): Diagnosis["flags"] {
  return [...agent.registry("flag")].map(([name, { value, owner }]) => {
    const { short, description, type, choices = ["<text>"] } = value;
    return { name, short, takes: type === "string" ? choices : "nothing", description, owner: owner.name };
  });
}

function toLine({ code, message, hint, owner }: AgentError): ProblemLine {
  return { code, message, hint, owner };
}
