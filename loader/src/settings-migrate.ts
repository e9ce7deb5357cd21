import type { JsonObject } from "@pi-agent/kernel";
import { isJsonObject } from "./json-check.ts";

/** Reads keys under their former names as what they are called now. A key that has its new name already wins. */
export function migrateSettings(values: JsonObject): JsonObject {
  const { queueMode, websockets, ...rest } = values;
  const migrated: JsonObject = rest;
  if (queueMode !== undefined) migrated.steeringMode ??= queueMode;
  if (typeof websockets === "boolean") migrated.transport ??= websockets ? "websocket" : "sse";
  if (isJsonObject(rest.skills)) Object.assign(migrated, migrateSkills(rest.skills, rest));
  if (isJsonObject(rest.retry)) migrated.retry = migrateRetry(rest.retry);
  return migrated;
}

function migrateSkills(skills: JsonObject, { enableSkillCommands }: JsonObject): JsonObject {
  const { customDirectories = [], enableSkillCommands: isEnabled = true } = skills;
  return { skills: customDirectories, enableSkillCommands: enableSkillCommands ?? isEnabled };
}

function migrateRetry({ maxDelayMs, ...retry }: JsonObject): JsonObject {
  if (maxDelayMs === undefined) return retry;
  const provider = isJsonObject(retry.provider) ? retry.provider : {};
  return { ...retry, provider: { maxRetryDelayMs: maxDelayMs, ...provider } };
}
