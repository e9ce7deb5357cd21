import type { JsonObject } from "@pi-agent/kernel";
import { findMisfits, isJsonObject } from "./json-check.ts";
import { type FileProblem, placesIn } from "./jsonc.ts";
import { nearestNames } from "./nearest-names.ts";
import type { OwnFile } from "./own-file.ts";
import { isGroup, memberOf } from "./settings-merge.ts";
import { migrateSettings } from "./settings-migrate.ts";
import type { SettingSchema } from "./settings-schema.ts";

// Nobody reads more.
const MAX_TOLD = 50;

/** Keeps the values of a file that fit the schema, and says of the others where they stand and what was expected. */
export function fitSettings(schema: SettingSchema, file: OwnFile): { values: JsonObject; problems: FileProblem[] } {
  const problems: FileProblem[] = file.problem ? [file.problem] : [];
  const placeOf = placesIn(file.text);
  const tell = (keys: string[], message: string, hint: string) => {
    if (problems.length < MAX_TOLD) problems.push({ path: file.path, ...placeOf(keys), message, hint });
  };
  const values = sieve(schema, migrateSettings(file.values), [], tell);
  return { values, problems };
}

/** Says of each key that no schema knows where it stands, and which known one it may mean; of a crowd, of the first. */
export function tellUnknown(schema: SettingSchema, file: OwnFile): FileProblem[] {
  const unknown = unknownKeys(schema, migrateSettings(file.values));
  const placeOf = placesIn(file.text);
  const problems = unknown.slice(0, MAX_TOLD).map(({ keys, names }): FileProblem => {
    const nearest = nearestNames(keys.at(-1)!, names, 1).map((name) => [...keys.slice(0, -1), name].join("."));
    return {
      path: file.path,
      ...placeOf(keys),
      message: `Nothing here knows the setting "${keys.join(".")}".`,
      hint:
        nearest.length > 0 ? `Did you mean "${nearest[0]}"? It is kept as it is.` : "It is kept, and has no effect.",
    };
  });
  if (unknown.length <= MAX_TOLD) return problems;
  const message = `Nothing here knows ${unknown.length - MAX_TOLD} more settings.`;
  return [...problems, { path: file.path, message, hint: "They are kept, and have no effect." }];
}

type Tell = (keys: string[], message: string, hint: string) => void;

function sieve(schema: SettingSchema | undefined, values: JsonObject, at: string[], tell: Tell): JsonObject {
  const kept: JsonObject = {};
  for (const [name, value] of Object.entries(values)) {
    const keys = [...at, name];
    const member = memberOf(schema, name);
    const misfit = member && !(isGroup(member) && isJsonObject(value)) && findMisfits(member, value)[0];
    if (name === "__proto__") tell(keys, `A setting cannot be called "${name}".`, "Remove it.");
    else if (misfit) {
      const where = [...keys, ...misfit.keys];
      tell(where, `"${where.join(".")}" does not fit: ${misfit.message}.`, "The default is in force instead.");
    } else kept[name] = isJsonObject(value) ? sieve(member, value, keys, tell) : value;
  }
  return kept;
}

/** `names`: those that are known where the key stands. */
function unknownKeys(schema: SettingSchema, values: JsonObject, at: string[] = []) {
  return Object.entries(values).flatMap(([name, value]): { keys: string[]; names: string[] }[] => {
    const keys = [...at, name];
    const member = memberOf(schema, name);
    if (member) return isGroup(member) && isJsonObject(value) ? unknownKeys(member, value, keys) : [];
    if (schema.additionalProperties !== undefined) return [];
    return [{ keys, names: Object.keys(schema.properties ?? {}) }];
  });
}
