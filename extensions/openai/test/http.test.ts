import { expect, test } from "vitest";
import { chatApi } from "../src/chat.ts";
import { endpointUrl, isOriginal } from "../src/http.ts";
import { responsesApi } from "../src/responses.ts";
import { collect, createModel, createRequest, DONE, sse, withServer } from "./support.ts";

test.each([
  ["https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"],
  ["https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions"],
  ["https://api.openai.com", "https://api.openai.com/v1/chat/completions"],
  ["http://127.0.0.1:11434/", "http://127.0.0.1:11434/v1/chat/completions"],
  ["https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"],
  ["https://api.z.ai/api/paas/v4", "https://api.z.ai/api/paas/v4/chat/completions"],
  ["https://x.test/openai/?api-version=1", "https://x.test/openai/chat/completions?api-version=1"],
  ["https://x.test/v1/chat/completions", "https://x.test/v1/chat/completions"],
])("a request to %s goes to %s", (baseUrl, url) => {
  expect(endpointUrl(baseUrl, "/chat/completions")).toBe(url);
});

test.each([
  ["https://api.openai.com/v1", true],
  ["https://us.api.openai.com/v1", true],
  ["https://api.openai.com.evil.test/v1", false],
  ["http://api.openai.com/v1", false],
  ["https://evil.test/https://api.openai.com/v1", false],
])("%s is OpenAI's own: %s", (baseUrl, expected) => {
  expect(isOriginal(baseUrl)).toBe(expected);
});

const answer = sse({ choices: [{ delta: { content: "a" }, finish_reason: "stop" }] }, DONE);

test("headers come from the key, the model, the credentials and the hook, in that order, and null removes", async () => {
  await withServer(answer, async (baseUrl, received) => {
    const model = createModel({ headers: { "X-One": "model", "X-Two": "model", "X-Gone": "model" } });
    await collect(
      chatApi.stream(
        createRequest({
          model,
          auth: { apiKey: "key-01234567", baseUrl, headers: { "x-two": "auth", "x-gone": null } },
          onHeaders: async (headers) => ({ ...headers, "x-three": "hook", "x-one": null }),
        }),
      ),
    );
    expect(received[0]?.url).toBe("/v1/chat/completions");
    expect(received[0]?.headers).toMatchObject({
      authorization: "Bearer key-01234567",
      "x-two": "auth",
      "x-three": "hook",
    });
    expect(received[0]?.headers).not.toHaveProperty("x-one");
    expect(received[0]?.headers).not.toHaveProperty("x-gone");
  });
});

test("without a key there is no authorization, as local servers have it", async () => {
  await withServer(answer, async (baseUrl, received) => {
    await collect(chatApi.stream(createRequest({ auth: { baseUrl } })));
    expect(received[0]?.headers).not.toHaveProperty("authorization");
  });
});

test("the payload is what the hook makes of it, and the head is told before the first event", async () => {
  await withServer(answer, async (baseUrl, received) => {
    const seen: unknown[] = [];
    const request = createRequest({
      auth: { baseUrl },
      onPayload: async (payload) => ({ ...Object(payload), seed: 7 }),
      onResponse: async ({ status, headers }) => void seen.push(status, headers.get("content-type")),
    });
    for await (const [event] of chatApi.stream(request)) if (event?.type === "start") seen.push("start");
    expect(received[0]?.body).toMatchObject({ model: "m1", seed: 7 });
    expect(seen).toEqual([200, "text/event-stream", "start"]);
  });
});

test.each([
  ["openai-completions", chatApi],
  ["openai-responses", responsesApi],
])("%s: a refused key is an auth failure that names the variable, and hides the key", async (_name, api) => {
  await withServer(
    (response) => {
      response.writeHead(401, { "content-type": "application/json" });
      response.end('{"error":{"message":"Incorrect API key provided: key-01234567.","code":"invalid_api_key"}}');
    },
    async (baseUrl) => {
      const { message } = await collect(api.stream(createRequest({ auth: { apiKey: "key-01234567", baseUrl } })));
      expect(message.failure).toEqual({ kind: "auth", status: 401 });
      expect(message.errorMessage).toContain("OPENAI_API_KEY");
      expect(message.errorMessage).not.toContain("key-01234567");
    },
  );
});

test("a server that is not there is a network failure", async () => {
  const gone = await withServer(answer, async (baseUrl) => baseUrl);
  const { message } = await collect(chatApi.stream(createRequest({ auth: { baseUrl: gone } })));
  expect(message).toMatchObject({
    failure: { kind: "network" },
    errorMessage: expect.stringContaining("ECONNREFUSED"),
  });
});

test("an abort before the head, on a real connection, ends as aborted", async () => {
  const abort = new AbortController();
  const hang = () => abort.abort();
  await withServer(hang, async (baseUrl) => {
    const { message } = await collect(chatApi.stream(createRequest({ auth: { baseUrl }, signal: abort.signal })));
    expect(message.stopReason).toBe("aborted");
  });
});

test("a base URL that is none is a failure, not a throw", async () => {
  const { message } = await collect(chatApi.stream(createRequest({ auth: { baseUrl: "nonsense" } })));
  expect(message.stopReason).toBe("error");
});
