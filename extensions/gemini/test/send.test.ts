import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { listLoadedModules, providerClaims, replyStream, serveReplies, TEST_KEY } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import { googleGenerativeAi } from "../src/api.ts";
import { answerTo, createRequest, finish, model, parts, run, sse } from "./chunks.ts";

const hello = replyStream(sse(parts({ text: "Hi" }), finish("STOP")));

test("a request goes to the stream of the model with its key, settings and contents", async () => {
  const { seen } = await answerTo(hello, {
    systemPrompt: "Be kind.",
    thinkingLevel: "high",
    temperature: 0.5,
    tools: [
      { name: "read", description: "Reads.", parameters: { type: "object", properties: { p: { type: "string" } } } },
    ],
  });
  expect(seen[0]).toMatchObject({
    method: "POST",
    url: "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
    headers: { "x-goog-api-key": TEST_KEY, "content-type": "application/json" },
  });
  expect(seen[0]?.body).toEqual({
    contents: [{ role: "user", parts: [{ text: "Hello" }] }],
    systemInstruction: { parts: [{ text: "Be kind." }] },
    tools: [
      {
        functionDeclarations: [
          {
            name: "read",
            description: "Reads.",
            parametersJsonSchema: { type: "object", properties: { p: { type: "string" } } },
          },
        ],
      },
    ],
    generationConfig: { temperature: 0.5, thinkingConfig: { includeThoughts: true, thinkingLevel: "HIGH" } },
  });
});

test("an address works with the version at its end and without", async () => {
  for (const [suffix, path] of [
    ["", "/v1beta/models"],
    ["/", "/v1beta/models"],
    ["/v1beta", "/v1beta/models"],
    ["/v1/", "/v1/models"],
    ["/proxy/v1alpha", "/proxy/v1alpha/models"],
    ["/proxy", "/proxy/v1beta/models"],
  ] as const) {
    await using server = await serveReplies(hello);
    await run({ auth: { baseUrl: server.url + suffix } });
    expect(server.seen[0]?.url).toBe(`${path}/gemini-3.8-flash:streamGenerateContent?alt=sse`);
  }
});

test("without an address the service itself is asked, in its beta version", async () => {
  let address: unknown;
  await run({
    fetch: async (url) => {
      address = url;
      return new Response(sse(parts({ text: "Hi" }), finish("STOP")));
    },
  });
  expect(address).toBe(
    "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
  );
});

test("headers of the model, of the credentials and of hooks are sent, and null removes", async () => {
  const { seen } = await answerTo(hello, {
    model: model("gemini-2.5-flash", { headers: { "X-Model": "1" } }),
    auth: { headers: { "X-Proxy": "2", "User-Agent": null, Authorization: "Bearer t" } },
    onHeaders: async (headers) => {
      expect(headers["x-goog-api-key"]).toBe(TEST_KEY);
      return { ...headers, "x-hook": "3", "x-goog-api-key": null };
    },
  });
  expect(seen[0]?.headers).toMatchObject({
    "x-model": "1",
    "x-proxy": "2",
    "x-hook": "3",
    authorization: "Bearer t",
  });
  expect(seen[0]?.headers).not.toHaveProperty("x-goog-api-key");
});

test("the payload that a hook gives back is sent, and the head of the answer is told", async () => {
  const heads: number[] = [];
  const { seen } = await answerTo(hello, {
    onPayload: async (payload) => {
      expect(payload).toMatchObject({ contents: [{ role: "user" }] });
      return { ...(payload as object), labels: { a: "b" } };
    },
    onResponse: async ({ status, headers }) => {
      heads.push(status);
      expect(headers.get("content-type")).toBe("text/event-stream");
    },
  });
  expect(seen[0]?.body).toMatchObject({ labels: { a: "b" } });
  expect(heads).toEqual([200]);
});

test.each(
  providerClaims({
    api: googleGenerativeAi,
    model: model("gemini-3.8-flash"),
    overloaded: { status: 503, body: { error: { code: 503, message: "Busy.", status: "UNAVAILABLE" } } },
    half: sse(parts({ text: "Half" })),
  }),
)("%s", (_claim, check) => check());

test("what the environment says of keys and clouds is not used behind the request's back", () => {
  const script = `
    const { googleGenerativeAi } = await import(${JSON.stringify(join(import.meta.dirname, "../src/api.ts"))});
    const request = ${JSON.stringify(createRequest({ auth: {} }))};
    request.signal = new AbortController().signal;
    request.onPayload = async (payload) => payload;
    request.onHeaders = async (headers) => headers;
    request.onResponse = async () => {};
    request.fetch = async (url, { headers }) => {
      console.log(url, headers.get("x-goog-api-key"), headers.get("authorization"));
      return new Response("");
    };
    for await (const _ of googleGenerativeAi.stream(request));
  `;
  const args = ["--conditions", "@pi-agent/source", "--input-type=module", "-e", script];
  const env = { ...process.env, GEMINI_API_KEY: "env-key", GOOGLE_GENAI_USE_VERTEXAI: "true" };
  const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8", env });
  expect(stdout).toBe(
    "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse null null\n",
  );
});

test("the SDK is loaded by the first call, not by the import", () => {
  const loaded = listLoadedModules(join(import.meta.dirname, "../src/index.ts"));
  expect(loaded.filter((url) => url.includes("@google"))).toEqual([]);
});

test("a redirect is a failure, and the other host gets nothing", async () => {
  await using other = await serveReplies(hello);
  const fetchMoved: typeof fetch = async (_url, init) => {
    expect(init?.redirect).toBe("manual");
    return new Response(null, { status: 307, headers: { location: other.url } });
  };
  const { message } = await run({ fetch: fetchMoved });
  expect(message.failure).toEqual({ kind: "invalid_request", status: 307 });
  expect(message.errorMessage).toContain(other.url);
  expect(other.seen).toEqual([]);
});
