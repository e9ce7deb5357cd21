import type { Json, JsonObject, ProviderRequest } from "@pi-agent/kernel";
import { sendOnce, settleHeaders } from "@pi-agent/wire";

export const ORIGINAL_BASE_URL = "https://api.openai.com/v1";
export const PROVIDER = "openai";
export const ENV = ["OPENAI_API_KEY"];

/** The variables that may hold the key, as far as they are known here: another provider has its own. */
export function envOf({ model }: ProviderRequest): readonly string[] | undefined {
  return model.provider === PROVIDER ? ENV : undefined;
}

/** Tells where a request goes. */
export function baseUrlOf({ model, auth }: Pick<ProviderRequest, "model" | "auth">): string {
  return auth.baseUrl ?? model.baseUrl ?? ORIGINAL_BASE_URL;
}

/** Tells whether a server is OpenAI's own: only it gets the fields that others refuse. */
export function isOriginal(baseUrl: string): boolean {
  return /^https:\/\/(?:[\w-]+\.)?api\.openai\.com(?:[:/]|$)/i.test(baseUrl);
}

/** Joins a base URL and an endpoint. A base without a path gets `/v1`; a query stays at the end. */
export function endpointUrl(baseUrl: string, endpoint: string): string {
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = path.endsWith(endpoint) ? path : `${path === "" ? "/v1" : path}${endpoint}`;
  return url.href;
}

/** Sends a body, after the hooks have had it, and tells them the head of what comes back. */
export async function postJson(
  request: ProviderRequest,
  signal: AbortSignal,
  call: { endpoint: string; body: JsonObject },
): Promise<Response> {
  const { apiKey } = request.auth;
  const own = new Headers({ "content-type": "application/json", accept: "text/event-stream" });
  if (apiKey) own.set("authorization", `Bearer ${apiKey}`);
  const headers = await settleHeaders(request, own);
  const payload = await request.onPayload(call.body);
  return sendOnce(request, endpointUrl(baseUrlOf(request), call.endpoint), {
    method: "POST",
    headers,
    body: JSON.stringify(payload),
    signal,
  });
}

/** A `data:` URL of an image. */
export function imageUrl({ mimeType, data }: { mimeType: string; data: string }): string {
  return `data:${mimeType};base64,${data}`;
}

/** Reads a JSON text of unknown origin; anything but an object is `undefined`. */
export function readObject(text: string): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
