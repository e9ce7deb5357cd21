import type { Command, Extension, Flag, Tool } from "@pi-agent/kernel";
import { isObject } from "../wire-server/json-values.ts";
import type { Observation } from "./observation.ts";
import { sampleArguments } from "./sample-arguments.ts";
import { findMisfit, listRefusedDefaults, listSchemaProblems } from "./schema-rules.ts";

/** What every provider takes as the name of a tool. */
const TOOL_NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;
const FLAG_NAME = /^[a-z][a-z0-9-]*$/;
const COMMAND_NAME = /^[^\s/]\S*$/;

/** Tells what is wrong with the names, descriptions and schemas of what an extension registered. */
export async function judgeRegistered({ registered }: Observation, extension: Extension): Promise<string[]> {
  const problems: string[] = [];
  for (const { name, value } of registered) {
    if ("execute" in value) problems.push(...(await judgeTool(value)));
    else if ("run" in value) problems.push(...judgeNamed(`cli command ${name}`, FLAG_NAME, name, value.summary));
    else if ("type" in value) problems.push(...judgeFlag(name, value));
    else problems.push(...judgeCommand(name, value));
  }
  if (extension.options !== undefined) problems.push(...(await judgeOptions(extension.options)));
  return problems;
}

async function judgeTool(tool: Tool): Promise<string[]> {
  const about = `tool ${tool.name}`;
  const problems = judgeNamed(about, TOOL_NAME, tool.name, tool.description);
  const parameters: unknown = tool.parameters;
  if (!isObject(parameters) || parameters.type !== "object") {
    return [...problems, `The parameters of ${about} are no JSON Schema of type "object".`];
  }
  problems.push(...(await judgeSchema(about, parameters)));
  return problems;
}

async function judgeSchema(about: string, schema: Record<string, unknown>): Promise<string[]> {
  try {
    JSON.stringify(schema);
  } catch (thrown) {
    return [`The schema of ${about} cannot be sent: ${(thrown as Error).message}.`];
  }
  const wrong = listSchemaProblems(schema);
  if (wrong.length > 0) return wrong.map((problem) => `The schema of ${about}: ${problem}.`);
  const misfit = await findMisfit(schema, sampleArguments(schema));
  // What does not fit its own schema may only be the suite's poor sample; anything else is the validator failing.
  const broken = misfit?.startsWith("invalid_options") ? undefined : misfit;
  return [
    ...(broken === undefined ? [] : [`The schema of ${about} cannot be used: ${broken}`]),
    ...(await listRefusedDefaults(schema)).map((problem) => `The schema of ${about}: ${problem}`),
  ];
}

function judgeFlag(name: string, flag: Flag): string[] {
  const problems = judgeNamed(`flag --${name}`, FLAG_NAME, name, flag.description);
  const { choices, default: chosen } = flag;
  if (choices && typeof chosen === "string" && !choices.includes(chosen)) {
    problems.push(`The default of --${name} is none of its choices.`);
  }
  return problems;
}

function judgeCommand(name: string, command: Command): string[] {
  const problems = judgeNamed(`command /${name}`, COMMAND_NAME, name, command.description);
  if (!command.handler && !command.expand) problems.push(`The command /${name} has neither a handler nor a text.`);
  return problems;
}

function judgeNamed(about: string, alphabet: RegExp, name: string, description: unknown): string[] {
  const problems: string[] = [];
  if (!alphabet.test(name)) problems.push(`The ${about} has a name that does not fit ${alphabet.source}.`);
  if (typeof description !== "string" || description.trim() === "") problems.push(`The ${about} has no description.`);
  return problems;
}

/** Options that are left out must be fine, unless the schema says that something is required. */
async function judgeOptions(schema: unknown): Promise<string[]> {
  if (!isObject(schema) || schema.type !== "object") return ['The schema of its options is none of type "object".'];
  const problems = await judgeSchema("its options", schema);
  if (Array.isArray(schema.required) && schema.required.length > 0) return problems;
  const misfit = await findMisfit(schema, {});
  return misfit === undefined ? problems : [...problems, `Its options cannot be left out: ${misfit}`];
}
