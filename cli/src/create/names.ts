import { builtinModules } from "node:module";
import { findNameFault } from "@pi-agent/loader";

/** What `pi create` begins. */
export const KINDS = ["extension", "skill", "agent"] as const;
export type Kind = (typeof KINDS)[number];

/** How a new package is called in its files. */
export interface Names {
  /** As it is published. */
  full: string;
  /** Without its scope. */
  bare: string;
}

// Of the rules for skills.
const SKILL = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const MAX_SKILL_LENGTH = 64;

/** Says what is wrong with the name of a new package, worded to follow it; `undefined` when nothing is. */
export function findNewNameFault(name: string, kind: Kind): string | undefined {
  const fault = findNameFault(name);
  if (fault !== undefined) return fault;
  const { bare } = toNames(name);
  if (builtinModules.includes(name)) return "is the name of a module of Node";
  if (kind !== "skill" || (SKILL.test(bare) && bare.length <= MAX_SKILL_LENGTH)) return undefined;
  return `is no name of a skill: small letters, digits and single dashes, at most ${MAX_SKILL_LENGTH}`;
}

/** Splits the name of a package. */
export function toNames(name: string): Names {
  return { full: name, bare: name.slice(name.indexOf("/") + 1) };
}

/** Writes the names of a new package in the place of those that a template has. */
export function rename(text: string, kind: Kind, { full, bare }: Names): string {
  const own = `my-${kind}`;
  const published = new RegExp(`(?<="name": "|\\bnpm:|\\bnpx )${own}\\b`, "g");
  return text
    .replace(published, () => full)
    .replaceAll(own, () => bare)
    .replaceAll(/\bmyExtension\b/g, () => toIdentifier(bare));
}

/** The ending keeps it from being a word of the language. */
function toIdentifier(bare: string): string {
  const [first = "", ...others] = bare.split(/[^a-z0-9]+/).filter((part) => part !== "");
  const joined = first + others.map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join("");
  return `${/^\d/.test(joined) ? "_" : ""}${joined}Extension`;
}
