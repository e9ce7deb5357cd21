import type { ProviderRequest } from "@pi-agent/kernel";
import { responseError, sendOnce, settleHeaders } from "@pi-agent/wire";
import { type Body, toPayload } from "./payload.ts";

const BASE_URL = "https://api.anthropic.com";
/** The last version that takes `temperature` and its like, and the one that compatible servers know. */
const OLD_VERSION = "2023-06-01";
const SAMPLING = ["temperature", "top_p", "top_k"];
/** How the tokens of a subscription begin. */
const OAUTH_TOKEN = "sk-ant-oat";
const OAUTH_BETA = "oauth-2025-04-20";
/** What is taken from the SDK's headers. */
const SDK_HEADERS = /^(?:accept|content-type|user-agent|anthropic-version|x-stainless-.*)$/;

/** Sends by the SDK, which builds and frames the request; the body of the answer is left to be read. */
export async function send(request: ProviderRequest, signal: AbortSignal): Promise<Response> {
  const { Anthropic } = await import("@anthropic-ai/sdk");
  const { body, betas } = toPayload(request);
  const payload = (await request.onPayload(body)) as Body;
  const baseURL = toBaseUrl(request);
  const setOwn = (headers: Headers) => {
    setKey(headers, request.auth.apiKey, betas);
    if (baseURL !== BASE_URL || SAMPLING.some((name) => name in payload)) headers.set("anthropic-version", OLD_VERSION);
    return headers;
  };
  let thrown: unknown;
  const client = new Anthropic({
    baseURL,
    // Given always, so that the SDK looks for no other in the environment and in files.
    apiKey: request.auth.apiKey ?? "none",
    maxRetries: 0,
    logLevel: "off",
    openTelemetry: false,
    fetch: async (url, init) => {
      try {
        const headers = await settleHeaders(request, setOwn(sdkHeaders(init?.headers)), ["anthropic-beta"]);
        const response = await sendOnce(request, url, { ...init, headers, signal });
        if (response.ok) return response;
        throw await responseError(response);
      } catch (error) {
        thrown = error;
        throw error;
      }
    },
  });
  try {
    // Not `messages.create`: that writes warnings about models to the console.
    return await client.post("/v1/messages", { body: payload, stream: true }).asResponse();
  } catch (error) {
    // The SDK words every failure its own way, an abort as a timeout too.
    throw thrown ?? error;
  }
}

/** Takes an address with the version at its end or without: the SDK adds it. */
function toBaseUrl({ auth, model }: ProviderRequest): string {
  return (auth.baseUrl ?? model.baseUrl ?? BASE_URL).replace(/\/+$/, "").replace(/\/v1$/, "");
}

/** Leaves out what the SDK takes from `ANTHROPIC_CUSTOM_HEADERS`: it would send that to every address. */
function sdkHeaders(given: RequestInit["headers"]): Headers {
  return new Headers([...new Headers(given)].filter(([name]) => SDK_HEADERS.test(name)));
}

/** Replaces the bearer token, as which the SDK sends every key: proxies and compatible servers want `x-api-key`. */
function setKey(headers: Headers, key: string | undefined, betas: readonly string[]): void {
  headers.delete("authorization");
  const isOauth = key?.startsWith(OAUTH_TOKEN) === true;
  if (key && isOauth) headers.set("authorization", `Bearer ${key}`);
  else if (key) headers.set("x-api-key", key);
  for (const beta of isOauth ? [...betas, OAUTH_BETA] : betas) headers.append("anthropic-beta", beta);
}
