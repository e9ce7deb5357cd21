import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { googleGenerativeAi } from "../src/api.ts";
import { answerTo, createRequest, finish, json, model, parts, run, serve, sse, streamOf } from "./serve.ts";

const hello = streamOf(sse(parts({ text: "Hi" }), finish("STOP")));

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
    headers: { "x-goog-api-key": "key-1", "content-type": "application/json" },
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
    const { url, seen } = await serve(hello);
    await run({ auth: { baseUrl: url + suffix } });
    expect(seen[0]?.url).toBe(`${path}/gemini-3.8-flash:streamGenerateContent?alt=sse`);
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
      expect(headers["x-goog-api-key"]).toBe("key-1");
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

test("a failed request is not sent again, and its head is told too", async () => {
  const heads: number[] = [];
  const reply = json(503, { error: { code: 503, message: "Busy.", status: "UNAVAILABLE" } });
  const { message, seen } = await answerTo(reply, { onResponse: async ({ status }) => void heads.push(status) });
  expect(message.failure).toEqual({ kind: "overloaded", status: 503 });
  expect(seen).toHaveLength(1);
  expect(heads).toEqual([503]);
});

test("a server that is not there is a network failure", async () => {
  const { url, close } = await serve(hello);
  await close();
  const { message } = await run({ auth: { apiKey: "k", baseUrl: url } });
  expect(message).toMatchObject({ stopReason: "error", failure: { kind: "network" } });
});

test("an abort before the head and in the middle ends as aborted, with what had arrived", async () => {
  const early = new AbortController();
  const { message } = await answerTo(() => early.abort(), { signal: early.signal });
  expect(message).toMatchObject({ stopReason: "aborted", content: [] });

  const controller = new AbortController();
  const { url } = await serve((response) => void response.write(sse(parts({ text: "Half" }))));
  const auth = { apiKey: "k", baseUrl: url };
  let last: unknown;
  for await (const batch of googleGenerativeAi.stream(createRequest({ auth, signal: controller.signal })))
    for (const event of batch) {
      if (event.type === "text_delta") controller.abort();
      last = event;
    }
  expect(last).toMatchObject({ type: "error", reason: "aborted", error: { content: [{ text: "Half" }] } });
});

test("silence for longer than the timeout is a timeout, not an abort", async () => {
  const { message } = await answerTo(() => {}, { timeoutMs: 50 });
  expect(message).toMatchObject({ stopReason: "error", failure: { kind: "timeout" } });
});

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
  const script = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    await import(${JSON.stringify(join(import.meta.dirname, "../src/index.ts"))});
    if (loaded.some((url) => url.includes("@google"))) process.exit(7);
  `;
  const args = ["--conditions", "@pi-agent/source", "--input-type=module", "-e", script];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(status).toBe(0);
});
