import type { ProviderRequest } from "@pi-agent/kernel";

/** Lists the texts that no message may show: the key and the values of all headers given, longest first. */
export function secretsOf({ auth, model }: ProviderRequest): string[] {
  const given = [auth.apiKey, ...Object.values(auth.headers ?? {}), ...Object.values(model.headers ?? {})];
  const secrets = given.flatMap((value) => (value ? [value, value.replace(/^(?:bearer|basic|token)\s+/i, "")] : []));
  return [...new Set(secrets)].sort((one, other) => other.length - one.length);
}
