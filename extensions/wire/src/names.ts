import type { ToolSchema } from "@pi-agent/kernel";

/** What an api takes as a tool's name or a call's id. */
export interface Alphabet {
  /** One character that it refuses. */
  refused: RegExp;
  maxLength: number;
}

/** What nearly every service takes. */
export const PLAIN_64: Alphabet = { refused: /[^A-Za-z0-9_-]/u, maxLength: 64 };

const HASH_LENGTH = 9;

/**
 * Maps a name or an id into an alphabet: one that fits stays, any other gets a hash of itself, so that two never
 * become one. It depends on nothing else, so that a later request says the same.
 */
export function toAlphabet(name: string, { refused, maxLength }: Alphabet): string {
  if (name !== "" && name.length <= maxLength && !refused.test(name)) return name;
  const mark = hash(name);
  const kept = name.replaceAll(new RegExp(refused, "gu"), "_").slice(0, Math.max(0, maxLength - HASH_LENGTH - 1));
  return kept === "" ? mark.slice(0, maxLength) : `${kept}_${mark}`;
}

/** Maps the names of a request's tools to an alphabet and back. */
export function createToolNames(tools: readonly ToolSchema[], alphabet: Alphabet) {
  const mapped = new Map<string, string>();
  for (const { name } of tools) {
    const wire = toAlphabet(name, alphabet);
    if (wire !== name) mapped.set(wire, name);
  }
  return {
    toWire: (name: string): string => toAlphabet(name, alphabet),
    fromWire: (name: string): string => mapped.get(name) ?? name,
  };
}

const FNV_PRIME = 0x01000193;
const FNV_OFFSET = 0x811c9dc5;

/** Nine letters and digits: 46 bits of two FNV-1a hashes. */
function hash(text: string): string {
  let high = FNV_OFFSET;
  let low = FNV_OFFSET ^ text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, FNV_PRIME);
    low = Math.imul(low ^ (unit + at), FNV_PRIME);
  }
  const bits = (high >>> 18) * 2 ** 32 + (low >>> 0);
  return bits.toString(36).padStart(HASH_LENGTH, "0");
}
