import type { ExtensionAPI, ProviderRequest } from "@pi-agent/kernel";

// Shorter values are words of the language as often as secrets.
const MIN_SECRET_CHARS = 8;

/** Takes out of a text the keys that the request carries, the secrets of the environment, and what looks like a key. */
export function maskKeys(pi: ExtensionAPI, text: string, { auth }: ProviderRequest): string {
  const names = pi.service("credentials")?.names() ?? [];
  const secrets = [auth.apiKey, ...Object.values(auth.headers ?? {}), ...names.map((name) => process.env[name])];
  let masked = text;
  for (const secret of secrets) {
    if (secret && secret.length >= MIN_SECRET_CHARS) masked = masked.replaceAll(secret, "***");
  }
  // The kernel masks every error's message: its shapes of keys are the ones that count here, too.
  return pi.error("mask", masked).message;
}
