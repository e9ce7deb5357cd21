import assert from "node:assert/strict";
import type { Api, Model } from "@pi-agent/kernel";
import { providerRequest, streamReply, streamToEnd, TEST_KEY } from "./request.ts";
import { replyHang, replyJson, serveReplies } from "./serve.ts";

/** An api, and how its service talks. */
export interface ProviderUnderTest {
  api: Api;
  model: Model;
  /** How the service says that it is overloaded. */
  overloaded: { status: number; body: unknown };
  /** The beginning of an answer, up to its first text, "Half". */
  half: string;
}

/** A claim in plain words, and the check that holds it. */
export type ProviderClaim = readonly [claim: string, check: () => Promise<void>];

/** Lists what every provider owes to its caller, whatever it speaks, as a table for `test.each`. */
export function providerClaims(subject: ProviderUnderTest): ProviderClaim[] {
  return Object.entries(CLAIMS).map(([claim, check]) => [claim, () => check(subject)]);
}

const CLAIMS: Record<string, (subject: ProviderUnderTest) => Promise<void>> = {
  async "a failed request is not sent again, and its head is told too"({ api, model, overloaded }) {
    const { status, body } = overloaded;
    const heads: number[] = [];
    const onResponse = async (head: { status: number }) => void heads.push(head.status);
    const { message, seen } = await streamReply(api, replyJson(status, body), { model, onResponse });
    assert.deepEqual(message.failure, { kind: "overloaded", status });
    assert.equal(seen.length, 1);
    assert.deepEqual(heads, [status]);
  },
  async "a server that is not there is a network failure that says why"({ api, model }) {
    const gone = await serveReplies();
    await gone.close();
    const { message } = await streamToEnd(
      api,
      providerRequest({ model, auth: { apiKey: TEST_KEY, baseUrl: gone.url } }),
    );
    assert.deepEqual([message.stopReason, message.failure?.kind], ["error", "network"]);
    assert.match(message.errorMessage ?? "", /ECONNREFUSED/);
  },
  async "an abort before the head ends as aborted"({ api, model }) {
    const abort = new AbortController();
    const { message } = await streamReply(api, () => abort.abort(), { model, signal: abort.signal });
    assert.deepEqual([message.stopReason, message.content], ["aborted", []]);
  },
  async "an abort in the middle ends as aborted, with what had arrived"({ api, model, half }) {
    const abort = new AbortController();
    await using server = await serveReplies(replyHang(half));
    const auth = { apiKey: TEST_KEY, baseUrl: server.url };
    const request = providerRequest({ model, auth, signal: abort.signal });
    const { message } = await streamToEnd(api, request, ({ type }) => type === "text_delta" && abort.abort());
    assert.deepEqual([message.stopReason, message.content], ["aborted", [{ type: "text", text: "Half" }]]);
  },
  async "silence for longer than the timeout is a timeout, not an abort"({ api, model }) {
    const { message } = await streamReply(api, replyHang(), { model, timeoutMs: 50 });
    assert.deepEqual([message.stopReason, message.failure?.kind], ["error", "timeout"]);
  },
};
