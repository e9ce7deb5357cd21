import type { ProviderAuth } from "@pi-agent/kernel";

/** Takes the secrets out of a text. */
export type Mask = (text: string) => string;

const HIDDEN = "***";
// A shorter value is likely to be a word that happens to be in a variable.
const MIN_VALUE_CHARS = 8;
// Every shape is linear in the length of a text, whatever the text: a part that another has to follow either begins where
// no other match can begin within it, or has a bound.
/** Keys and tokens as providers and hosts make them, private keys, and passwords in addresses. */
const SHAPES = [
  /\bsk-[\w-]{16,}/g,
  /\bAIza[\w-]{30,}/g,
  /\b(?:gh[pousr]_|github_pat_|glpat-|npm_|[sr]k_(?:live|test)_)\w{16,}/g,
  /\b(?:gsk_|hf_|xai-|pplx-)[A-Za-z0-9]{20,}/g,
  /\bdckr_pat_[\w-]{16,}/g,
  /\bxox[a-z]-[\w-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bSG\.[\w-]{16,100}\.[\w-]{16,}/g,
  /\bya29\.[\w-]{20,}/g,
  /(?<![\w-])eyJ[\w-]{10,8000}\.[\w-]{10,}(?:\.[\w-]*)?/g,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g,
  /(?<=\bBearer )[\w.~+/=-]{12,}/gi,
  /(?<=:\/\/[^\s/:@]{0,100}:)[^\s/@]{1,200}(?=@)/g,
];
/** What follows a name that says what it is; the name stays. Quotes may be escaped: JSON is often told in JSON. */
const NAMED = [
  // As headers and as JSON have it.
  /((?<![\w-])(?:proxy-)?authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?:basic|bearer|token)\s{1,4})[^\s"'\\,;]+/gi,
  /((?<![\w-])(?:x-)?[\w-]{0,40}?api[-_]?key\\?["']?:\s{0,4}\\?["']?)[^\s"'\\,;]{4,}/gi,
  /((?<![\w-])[\w-]{0,40}?(?:token|secret|passw(?:or)?d)\\?["']\s{0,4}:\s{0,4}\\?["'])[^\s"'\\]{4,}/gi,
  // As addresses, forms, shells and files of variables have it.
  /((?<![\w-])[\w-]{0,40}?(?:api[-_]?key|token|secret|passw(?:or)?d)=)(?:"[^"\n]{1,4000}"?|'[^'\n]{1,4000}'?|[^\s"'&;,]{4,})/gi,
  /((?<![\w-])[A-Z0-9_]{0,40}?(?:_SECRET[A-Z0-9_]{0,40}|_KEY)=)(?:"[^"\n]{1,4000}"?|'[^'\n]{1,4000}'?|[^\s"'&;,]{4,})/g,
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
    for (const named of NAMED) masked = masked.replace(named, `$1${HIDDEN}`);
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
