import { type AgentError, createAgent, type Json } from "@pi-agent/kernel";
import { isObject } from "../wire-server/json-values.ts";

const TYPES = ["string", "number", "integer", "boolean", "array", "object", "null"];

/** Lists what keeps a value from being a JSON Schema that validators and providers can read. */
export function listSchemaProblems(schema: unknown, path = "(schema)"): string[] {
  if (typeof schema === "boolean") return [];
  if (!isObject(schema)) return [`${path} is no schema`];
  const problems: string[] = [];
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]) as unknown[];
  for (const type of types) {
    if (type !== undefined && !TYPES.includes(type as string))
      problems.push(`${path} has the type ${JSON.stringify(type)}`);
  }
  if ("enum" in schema && !Array.isArray(schema.enum)) problems.push(`${path} has an enum that is no list`);
  if ("pattern" in schema && !isPattern(schema.pattern)) problems.push(`${path} has a pattern that is none`);
  return [...problems, ...requiredProblems(schema, path), ...partProblems(schema, path)];
}

function requiredProblems({ required, properties }: Record<string, unknown>, path: string): string[] {
  if (required === undefined) return [];
  if (!Array.isArray(required)) return [`${path} requires something that is no list`];
  const known = isObject(properties) ? properties : {};
  return required
    .filter((name) => typeof name !== "string" || !Object.hasOwn(known, name))
    .map((name) => `${path} requires ${JSON.stringify(name)}, which is none of its properties`);
}

function partProblems(schema: Record<string, unknown>, path: string): string[] {
  const problems: string[] = [];
  for (const key of ["properties", "patternProperties", "$defs"]) {
    if (!(key in schema)) continue;
    if (!isObject(schema[key])) problems.push(`${path} has ${key} that are no object`);
    else
      for (const [name, part] of Object.entries(schema[key]))
        problems.push(...listSchemaProblems(part, `${path}.${name}`));
  }
  for (const key of ["anyOf", "oneOf", "allOf"]) {
    if (!(key in schema)) continue;
    const arms = schema[key];
    if (!Array.isArray(arms) || arms.length === 0) problems.push(`${path} has ${key} without arms`);
    else for (const [at, arm] of arms.entries()) problems.push(...listSchemaProblems(arm, `${path}.${key}[${at}]`));
  }
  for (const key of ["items", "additionalProperties", "not"]) {
    if (key in schema && !Array.isArray(schema[key]))
      problems.push(...listSchemaProblems(schema[key], `${path}.${key}`));
  }
  return problems;
}

function isPattern(pattern: unknown): boolean {
  if (typeof pattern !== "string") return false;
  try {
    void new RegExp(pattern);
    return true;
  } catch {
    return false;
  }
}

/** Lists the values that a schema names as defaults and that it does not take itself, by the kernel's own validator. */
export async function listRefusedDefaults(schema: unknown, path = "(schema)"): Promise<string[]> {
  if (!isObject(schema)) return [];
  const problems: string[] = [];
  if ("default" in schema) {
    const problem = await findMisfit(schema, schema.default as Json);
    if (problem !== undefined) problems.push(`${path} does not take its own default: ${problem}`);
  }
  if (isObject(schema.properties)) {
    for (const [name, part] of Object.entries(schema.properties)) {
      problems.push(...(await listRefusedDefaults(part, `${path}.${name}`)));
    }
  }
  return problems;
}

/** Asks the kernel's validator whether a schema takes a value; answers why not. */
export async function findMisfit(schema: unknown, value: Json): Promise<string | undefined> {
  const wrapped = { type: "object", properties: { value: schema }, required: ["value"] };
  const probe = Object.assign(() => {}, { options: wrapped as never });
  const agent = createAgent();
  const [report] = await agent.extend([
    { extension: probe, options: { value }, owner: { name: "probe", scope: "inline" } },
  ]);
  await agent.dispose();
  const error = report?.error as AgentError | undefined;
  return error && `${error.code}: ${error.message}`;
}
