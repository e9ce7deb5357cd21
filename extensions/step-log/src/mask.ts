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

/** Makes a mask for the known shapes of secrets and for the values of these variables. */
export function createMask(names: readonly string[], env: NodeJS.ProcessEnv = process.env): Mask {
  const values = names.map((name) => env[name] ?? "").filter((value) => value.length >= MIN_VALUE_CHARS);
  // The longest first: one value may hold another.
  values.sort((a, b) => b.length - a.length);
  return (text) => {
    let masked = text;
    for (const value of values) masked = masked.replaceAll(value, HIDDEN);
    for (const shape of SHAPES) masked = masked.replace(shape, HIDDEN);
    return masked;
  };
}
