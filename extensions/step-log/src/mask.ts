import type { ProviderAuth } from "@pi-agent/kernel";

/** Takes the secrets out of a text. */
export type Mask = (text: string) => string;

const HIDDEN = "***";
// A shorter value is likely to be a word that happens to be in a variable.
const MIN_VALUE_CHARS = 8;
// Keys and tokens as providers and hosts make them, private keys, and passwords in addresses.
const SHAPES = [
  /\bsk-[\w-]{16,}/g,
  /\bAIza[\w-]{30,}/g,
  /\b(?:gh[pousr]_|github_pat_|glpat-|npm_)\w{16,}/g,
  /\bxox[a-z]-[\w-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\beyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*)?/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /(?<=\bBearer )[\w.~+/=-]{12,}/gi,
  /(?<=:\/\/[^\s/:@]{0,100}:)[^\s/@]{1,200}(?=@)/g,
];

/** Knows secrets, and takes them and all that has the shape of one out of texts. */
export class Secrets {
  /** The longest first: one may hold another. */
  private values: string[] = [];

  /** Learns what to hide beside the known shapes. */
  learn(values: readonly (string | null | undefined)[]): void {
    const fresh = values.filter(isSecret).filter((value) => !this.values.includes(value));
    if (fresh.length > 0) this.values = [...new Set([...this.values, ...fresh])].sort((a, b) => b.length - a.length);
  }

  readonly mask: Mask = (text) => {
    let masked = text;
    for (const value of this.values) masked = masked.replaceAll(value, HIDDEN);
    for (const shape of SHAPES) masked = masked.replace(shape, HIDDEN);
    return masked;
  };
}

function isSecret(value: string | null | undefined): value is string {
  return typeof value === "string" && value.length >= MIN_VALUE_CHARS;
}

const SECRET_HEADER = /auth|key|token|secret|cookie/i;

/** Lists the secrets that a provider call is made with. */
export function secretsOf({ apiKey, headers = {} }: ProviderAuth): (string | null | undefined)[] {
  const named = Object.entries(headers).filter(([name]) => SECRET_HEADER.test(name));
  return [apiKey, ...named.map(([, value]) => value?.replace(/^(?:bearer|basic)\s+/i, ""))];
}
