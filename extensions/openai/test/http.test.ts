import { providerClaims, replyJson, serveReplies, streamToEnd, TEST_KEY } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import { chatApi } from "../src/chat.ts";
import { endpointUrl, isOriginal } from "../src/http.ts";
import { responsesApi } from "../src/responses.ts";
import { ask, createModel, createRequest, DONE, frame, sse } from "./support.ts";

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
  const { seen } = await ask(chatApi, answer, {
    model: createModel({ headers: { "X-One": "model", "X-Two": "model", "X-Gone": "model" } }),
    auth: { headers: { "x-two": "auth", "x-gone": null } },
    onHeaders: async (headers) => ({ ...headers, "x-three": "hook", "x-one": null }),
  });
  expect(seen[0]?.url).toBe("/v1/chat/completions");
  expect(seen[0]?.headers).toMatchObject({
    authorization: `Bearer ${TEST_KEY}`,
    "x-two": "auth",
    "x-three": "hook",
  });
  expect(seen[0]?.headers).not.toHaveProperty("x-one");
  expect(seen[0]?.headers).not.toHaveProperty("x-gone");
});

test("without a key there is no authorization, as local servers have it", async () => {
  const { seen } = await ask(chatApi, answer, { auth: { apiKey: undefined } });
  expect(seen).toHaveLength(1);
  expect(seen[0]?.headers).not.toHaveProperty("authorization");
});

test("the payload is what the hook makes of it, and the head is told before the first event", async () => {
  await using server = await serveReplies(answer);
  const told: unknown[] = [];
  const request = createRequest({
    auth: { baseUrl: server.url },
    onPayload: async (payload) => ({ ...Object(payload), seed: 7 }),
    onResponse: async ({ status, headers }) => void told.push(status, headers.get("content-type")),
  });
  await streamToEnd(chatApi, request, ({ type }) => type === "start" && told.push(type));
  expect(server.seen[0]?.body).toMatchObject({ model: "m1", seed: 7 });
  expect(told).toEqual([200, "text/event-stream", "start"]);
});

test.each([
  ["openai-completions", chatApi],
  ["openai-responses", responsesApi],
])("%s: a refused key is an auth failure that names the variable, and hides the key", async (_name, api) => {
  const error = { message: `Incorrect API key provided: ${TEST_KEY}.`, code: "invalid_api_key" };
  const { message } = await ask(api, replyJson(401, { error }));
  expect(message.failure).toEqual({ kind: "auth", status: 401 });
  expect(message.errorMessage).toContain("OPENAI_API_KEY");
  expect(message.errorMessage).not.toContain(TEST_KEY);
});

const SUBJECTS = [
  { api: chatApi, model: createModel(), half: frame({ choices: [{ delta: { content: "Half" } }] }) },
  {
    api: responsesApi,
    model: createModel({ api: "openai-responses" }),
    half: frame({ type: "response.output_text.delta", output_index: 0, delta: "Half" }),
  },
];
const OVERLOADED = { status: 503, body: { error: { message: "That model is currently overloaded." } } };
for (const subject of SUBJECTS) {
  test.each(providerClaims({ ...subject, overloaded: OVERLOADED }))(`${subject.model.api}: %s`, (_claim, check) =>
    check(),
  );
}

test("a base URL that is none is a failure, not a throw", async () => {
  const { message } = await ask(chatApi, answer, { auth: { baseUrl: "nonsense" } });
  expect(message.stopReason).toBe("error");
});

test.each([
  ["openai-completions", chatApi],
  ["openai-responses", responsesApi],
])("%s: a redirect is a failure, and the other host gets nothing", async (_name, api) => {
  await using other = await serveReplies(answer);
  const fetchMoved: typeof fetch = async (_url, init) => {
    expect(init?.redirect).toBe("manual");
    return new Response(null, { status: 307, headers: { location: other.url } });
  };
  const { message } = await streamToEnd(api, createRequest({ fetch: fetchMoved }));
  expect(message.failure).toEqual({ kind: "invalid_request", status: 307 });
  expect(message.errorMessage).toContain(other.url);
  expect(other.seen).toEqual([]);
});
