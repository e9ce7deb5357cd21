/** What an agent's file comes to here: its names looked up among the tools, skills, packages and models that there are. */
import type { Model, ThinkingLevel } from "@pi-agent/kernel";
import { type AgentFile, type Problem, quote } from "./agent-file.ts";
import { nearestName } from "./nearest.ts";

const PLAIN = /^@?\w[\w./-]*$/;

/** What is there for an agent to have. */
export interface Known {
  tools: readonly { name: string; package: string }[];
  /** Names of the packages that bring tools or commands. */
  packages: readonly string[];
  skills: readonly string[];
  /** Fails with the reason. */
  findModel(reference: string): { model: Model; thinkingLevel?: ThinkingLevel };
}

/** An agent as it can be put in force. */
export interface AgentPlan {
  file: AgentFile;
  /** The tools that it may use, and no other; absent: any. */
  allowed?: readonly string[];
  /** Of these, those that are on from the start; absent: as many of `allowed` as are on without an agent. */
  listed?: readonly string[];
  /** Names of the skills that it is offered; absent: all. */
  skills?: readonly string[];
  model?: Model;
  thinking?: ThinkingLevel;
}

/** Makes a plan of a file. One with problems is not to be put in force. */
export function planAgent(file: AgentFile, known: Known): { plan: AgentPlan; problems: Problem[] } {
  const problems: Problem[] = [];
  const packages = file.packages?.filter((name) => isLoaded(name, known, problems));
  const listed = file.tools && [...new Set(file.tools.flatMap((name) => findTool(name, known, problems) ?? []))];
  const ofPackages = packages && known.tools.filter((tool) => packages.includes(tool.package)).map(({ name }) => name);
  if (listed && ofPackages) problems.push(...listed.flatMap((name) => judgePackage(name, known, ofPackages)));
  const skills = file.skills?.filter((name) => isSkill(name, known, problems));
  const found = findModel(file, known, problems);
  const thinking = file.thinking ?? found?.thinkingLevel;
  return { plan: { file, allowed: listed ?? ofPackages, listed, skills, model: found?.model, thinking }, problems };
}

/** A tool's exact name, else the one that differs in its case alone: other programs write `Read`. */
function findTool(written: string, { tools }: Known, problems: Problem[]): string | undefined {
  const names = tools.map(({ name }) => name);
  if (names.includes(written)) return written;
  const alike = names.filter((name) => name.toLowerCase() === written.toLowerCase());
  if (alike.length === 1) return alike[0];
  problems.push({ what: `there is no tool ${quote(written)}`, hint: hintForTool(written, names) });
  return undefined;
}

function hintForTool(written: string, names: readonly string[]): string {
  if (written.includes("*")) return "Write each name out, or leave `tools` out for those that are on by default.";
  const near = nearestName(written, names);
  return near ? `Did you mean ${near}?` : `The tools are: ${names.join(", ") || "none"}.`;
}

function judgePackage(tool: string, { tools }: Known, ofPackages: readonly string[]): Problem[] {
  if (ofPackages.includes(tool)) return [];
  const from = tools.find(({ name }) => name === tool)?.package;
  const hint = "Add the package there, or take the tool out of `tools`.";
  return [{ what: `its tool ${tool} is of ${from}, which \`packages\` does not name`, hint }];
}

function isLoaded(name: string, { packages }: Known, problems: Problem[]): boolean {
  if (packages.includes(name)) return true;
  const near = nearestName(name, packages);
  // The name is somebody else's text, and this is for a command line.
  const command = `pi install ${PLAIN.test(name) ? name : "<name>"}`;
  const hint = `${near ? `Did you mean ${near}? Else run` : "Run"}: ${command}. What brings neither need not be named.`;
  problems.push({ what: `no package ${quote(name)} is loaded that brings tools or commands`, hint });
  return false;
}

function isSkill(name: string, { skills }: Known, problems: Problem[]): boolean {
  if (skills.includes(name)) return true;
  const near = nearestName(name, skills);
  const hint = near ? `Did you mean ${near}?` : `The skills are: ${skills.map(quote).join(", ") || "none"}.`;
  problems.push({ what: `there is no skill ${quote(name)}`, hint });
  return false;
}

function findModel({ model }: AgentFile, known: Known, problems: Problem[]) {
  if (model === undefined) return undefined;
  try {
    return known.findModel(model);
  } catch (thrown) {
    const { message, hint } = thrown as Error & { hint?: string };
    problems.push({ what: `its model: ${message.replace(/\.$/, "")}`, hint: hint ?? "Write provider/id." });
    return undefined;
  }
}
