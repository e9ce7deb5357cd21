import { startWireServer, type WireServer } from "../../src/wire.ts";
import type { FormatName } from "../../src/wire-server/neutral-request.ts";
import type { Script } from "../../src/wire-server/turn.ts";

export type Body = Record<string, unknown>;

export interface Sent {
  status: number;
  text: string;
  /** The rule that refused it. */
  rule: string | undefined;
}

const PATHS: Record<Exclude<FormatName, "kernel">, string> = {
  anthropic: "/v1/messages",
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
  gemini: "/v1beta/models/scripted:streamGenerateContent?alt=sse",
};

const HEADERS: Record<Exclude<FormatName, "kernel">, Record<string, string>> = {
  anthropic: { "x-api-key": "test-key", "anthropic-version": "2023-06-01" },
  chat: { authorization: "Bearer test-key" },
  responses: { authorization: "Bearer test-key" },
  gemini: { "x-goog-api-key": "test-key" },
};

export type WireName = keyof typeof PATHS;

export interface Wire {
  server: WireServer;
  send(body: unknown, other?: { headers?: Record<string, string>; path?: string }): Promise<Sent>;
  /** Sends a good request and answers the parsed data of each event. */
  stream(body: unknown): Promise<Body[]>;
}

/** A server and the way to send it requests of one format by hand. A text is sent as it is. */
export async function openWire(format: WireName, script: Script): Promise<Wire> {
  const server = await startWireServer({ script });
  const send: Wire["send"] = async (body, other = {}) => {
    const index = server.requests.length;
    const response = await fetch(server.url + (other.path ?? PATHS[format]), {
      method: "POST",
      headers: { "content-type": "application/json", ...(other.headers ?? HEADERS[format]) },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, text, rule: server.requests[index]?.refusal?.rule };
  };
  return {
    server,
    send,
    async stream(body) {
      const { status, text, rule } = await send(body);
      if (status !== 200) throw new Error(`Refused by ${rule}: ${text}`);
      return parseData(text);
    },
  };
}

/** The parsed `data:` lines of a stream; `[DONE]` is left out. */
export function parseData(text: string): Body[] {
  return text
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data: ") && line !== "data: [DONE]")
    .map((line) => JSON.parse(line.slice("data: ".length)) as Body);
}

/** Reads a value deep inside a body, for changing it. */
export function at<T = Body>(body: unknown, ...path: (string | number)[]): T {
  return path.reduce<unknown>((value, key) => (value as Record<string | number, unknown>)[key], body) as T;
}

/** A copy of a body, changed. */
export function but<B>(body: B, change: (copy: B) => void): B {
  const copy = structuredClone(body);
  change(copy);
  return copy;
}
