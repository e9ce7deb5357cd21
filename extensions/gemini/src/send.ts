/**
 * Sends by the SDK, which addresses, keys and frames the request and translates its settings. Two things are not left to
 * it, as its ways take 5 times as long as writing the JSON: turning the contents, which are in wire form already, and
 * reading the stream.
 */
import type { GoogleGenAI } from "@google/genai";
import type { ProviderRequest } from "@pi-agent/kernel";
import { sendOnce, settleHeaders } from "@pi-agent/wire";
import { toConfig } from "./config.ts";
import { toContents } from "./contents.ts";

const BASE_URL = "https://generativelanguage.googleapis.com";
/** The SDK's own is `v1`, which lacks what this package needs. */
const VERSION = "v1beta";
type FetchInput = Parameters<typeof fetch>[0];

/** Stands in the SDK's request for the contents. */
const PLACEHOLDER = [{ role: "user", parts: [{ text: "." }] }];

let loading: Promise<GoogleGenAI> | undefined;

/** Loads the SDK, once. A key is given so that it looks for none in the environment; each request brings its own. */
function loadSdk(): Promise<GoogleGenAI> {
  loading ??= import("@google/genai").then(({ GoogleGenAI }) => new GoogleGenAI({ apiKey: "none", vertexai: false }));
  return loading;
}

/** Sends, and answers the response, whatever its status. */
export async function send(request: ProviderRequest, signal: AbortSignal): Promise<Response> {
  const { models } = await loadSdk();
  let response: Response | undefined;
  let thrown: unknown;
  const sendFramed = async (url: FetchInput, init: RequestInit = {}) => {
    const framed = JSON.parse(init.body as string) as Record<string, unknown>;
    const payload = await request.onPayload({ ...framed, contents: toContents(request.messages, request.model) });
    const headers = await settleHeaders(request, withKey(new Headers(init.headers), request.auth.apiKey));
    response = await sendOnce(request, url, { ...init, body: JSON.stringify(payload), headers, signal });
  };
  const config = {
    ...toConfig(request),
    automaticFunctionCalling: { disable: true },
    automaticContinuation: false,
    httpOptions: {
      ...splitAddress(request),
      fetch: async (url: FetchInput, init?: RequestInit) => {
        await sendFramed(url, init).catch((error: unknown) => {
          thrown = error;
          throw error;
        });
        // The SDK would read the body of an error, and types it by its text only.
        return new Response();
      },
    },
  };
  try {
    await models.generateContentStream({ model: request.model.id, contents: PLACEHOLDER, config });
  } catch (error) {
    throw thrown ?? error;
  }
  return response!;
}

/** Takes an address with the version at its end, or without: then it is the beta's. */
function splitAddress({ auth, model }: ProviderRequest): { baseUrl: string; apiVersion: string } {
  const address = (auth.baseUrl ?? model.baseUrl ?? BASE_URL).replace(/\/+$/, "");
  const [, base, version] = /^(.*)\/(v\d+(?:(?:alpha|beta)\d*)?)$/.exec(address) ?? [];
  return { baseUrl: base ?? address, apiVersion: version ?? VERSION };
}

function withKey(headers: Headers, key: string | undefined): Headers {
  if (key) headers.set("x-goog-api-key", key);
  else headers.delete("x-goog-api-key");
  return headers;
}
