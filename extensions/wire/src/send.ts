import type { ProviderRequest } from "@pi-agent/kernel";
import { failureError } from "./failure.ts";

type FetchInput = Parameters<ProviderRequest["fetch"]>[0];

/**
 * Sends a request once, tells its hooks the head of the answer, and follows no redirect: the key and the conversation
 * go to the host that was named only. Throws an `invalid_request` failure for a redirect.
 */
export async function sendOnce(request: ProviderRequest, url: FetchInput, init: RequestInit): Promise<Response> {
  const response = await request.fetch(url, { ...init, redirect: "manual" });
  await request.onResponse(response);
  const { status } = response;
  if (response.type !== "opaqueredirect" && (status < 300 || status > 399)) return response;
  // It is of no use, and what breaks it no news.
  void response.body?.cancel().catch(() => {});
  throw redirectError(url instanceof Request ? url.url : String(url), response);
}

function redirectError(url: string, { status, headers }: Response): Error {
  const location = headers.get("location");
  const target = location !== null && URL.canParse(location, url) ? new URL(location, url).origin : "an unknown host";
  const what = `${new URL(url).origin} redirects to ${target}, and keys do not follow redirects`;
  const todo = "Set the base URL to the address that answers, if you trust it.";
  return failureError({ kind: "invalid_request", status }, `${what}. ${todo}`);
}
