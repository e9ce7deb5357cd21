import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerRequest } from "./answer-request.ts";
import type { Chunking } from "./delivery.ts";
import type { Memory } from "./format.ts";
import type { RecordedRequest } from "./recorded-request.ts";
import { createScriptReader, type Script } from "./turn.ts";

export interface WireServerOptions {
  script: Script;
  /** Default `event`. */
  chunking?: Chunking;
  /** The one key that is right. Default `test-key`. */
  apiKey?: string;
  /** The models that exist. Default `scripted`. */
  models?: readonly string[];
}

export interface WireServer {
  /** Without a path: `http://127.0.0.1:PORT`. */
  url: string;
  /** In the order of arrival, refused ones too. */
  requests: readonly RecordedRequest[];
  /** The rules that refused something; a test of a well-behaved client ends with this empty. */
  refusals(): { rule: string; message: string }[];
  /** Resolves with the request at `index` (from 0) once it has come in and been judged. */
  waitForRequest(index: number): Promise<RecordedRequest>;
  /** Stops listening and drops every connection. */
  close(): Promise<void>;
}

/** Starts a scripted model server on loopback that speaks four wire formats and refuses what the real ones refuse. */
export async function startWireServer(options: WireServerOptions): Promise<WireServer> {
  const requests: RecordedRequest[] = [];
  const waiting: { index: number; resolve(request: RecordedRequest): void }[] = [];
  const memory: Memory = { signatures: new Map(), companions: new Map() };
  const context = {
    nextTurn: createScriptReader(options.script),
    chunking: options.chunking ?? "event",
    server: { apiKey: options.apiKey ?? "test-key", models: options.models ?? ["scripted"], memory },
    record(request: RecordedRequest) {
      const index = requests.push(request) - 1;
      for (const waiter of waiting) if (waiter.index === index) waiter.resolve(request);
    },
  };
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    answerRequest(request, response, context).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    refusals: () => requests.flatMap((request) => request.refusal ?? []),
    waitForRequest(index) {
      const there = requests[index];
      if (there) return Promise.resolve(there);
      return new Promise((resolve) => waiting.push({ index, resolve }));
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
