/** What extensions register as theirs in settings.json: a name at the top, and the schema of what stands below it. */
import type { Registered } from "@pi-agent/kernel";
import { isGroup, memberOf } from "./settings-merge.ts";
import type { SettingSchema } from "./settings-schema.ts";

export type Namespaces = ReadonlyMap<string, Registered<"settings">>;

/**
 * Adds namespaces to a schema. Where it has the name already, only keys that it lacks are added: nobody changes what a
 * key of ours means, or what a project may do to it.
 */
export function addNamespaces(schema: SettingSchema, registered: readonly Registered<"settings">[]): SettingSchema {
  let properties = schema.properties ?? {};
  for (const { name, value } of registered) {
    const own = memberOf(schema, name);
    const given = value as SettingSchema;
    if (own && !(isGroup(own) && isGroup(given))) continue;
    const member = own ? { ...own, properties: { ...given.properties, ...own.properties } } : given;
    properties = { ...properties, [name]: member };
  }
  return { ...schema, properties };
}
