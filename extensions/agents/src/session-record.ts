/** What a session remembers of its agent, so that it is held to it when it is gone on with. */
import type { Context, Json, JsonObject, Resource } from "@pi-agent/kernel";

/** The `customType` of the entry. */
export const RECORD = "@pi-agent/agents";

export interface SessionRecord {
  /** `null`: none from here on. */
  name: string | null;
  scope?: Resource["scope"];
  /** The tools that it was held to; absent where it was held to none. */
  tools?: string[];
  /** What was on without an agent. */
  usual?: string[];
}

/** The last record on the branch. One that cannot be read holds to no tools. */
export function readRecord({ transcript }: Pick<Context, "transcript">): SessionRecord | undefined {
  const entry = transcript.findLast("custom", ({ customType }) => customType === RECORD);
  if (!entry) return undefined;
  const { name, scope, tools, usual } = (entry.data ?? {}) as { [key in keyof SessionRecord]?: Json };
  if (name === null) return { name };
  return {
    name: typeof name === "string" ? name : "",
    scope: scope as Resource["scope"] | undefined,
    tools: tools === undefined ? undefined : textsOf(tools),
    usual: usual === undefined ? undefined : textsOf(usual),
  };
}

/** The record as an entry holds it. */
export function toData(record: SessionRecord): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

/** Tells whether a branch has to be told anew. */
export function isSameRecord(one: SessionRecord, other: SessionRecord | undefined): boolean {
  if (one.name === null) return (other?.name ?? null) === null;
  return one.name === other?.name && one.scope === other.scope && isSameList(one.tools, other.tools);
}

function isSameList(one: readonly string[] | undefined, other: readonly string[] | undefined): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function textsOf(value: Json): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
