import type { ProviderRequest } from "@pi-agent/kernel";

/**
 * Settles the headers of a request: the provider's own, over them the model's and then the credentials', and last what
 * `onHeaders` makes of them. Names match in any spelling; `null` removes; those in `lists` add up.
 */
export async function settleHeaders(
  request: ProviderRequest,
  own: Headers,
  lists: readonly string[] = [],
): Promise<Headers> {
  const headers = new Headers(own);
  for (const given of [request.model.headers, request.auth.headers])
    for (const [name, value] of Object.entries(given ?? {}))
      if (value === null) headers.delete(name);
      else if (lists.includes(name.toLowerCase())) headers.append(name, value);
      else headers.set(name, value);
  const settled = new Headers();
  for (const [name, value] of Object.entries(await request.onHeaders(Object.fromEntries(headers))))
    if (value !== null) settled.set(name, value);
  return settled;
}
