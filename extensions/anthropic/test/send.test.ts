import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { anthropicMessages } from "../src/api.ts";
import { answerTo, begin, createRequest, finish, json, model, run, serve, streamOf, textBlock } from "./serve.ts";

const hello = streamOf(begin, textBlock("Hi"), finish("end_turn"));

test("a key goes as x-api-key, never as a bearer token, and a subscription's token the other way", async () => {
  const { seen } = await answerTo(hello);
  expect(seen[0]).toMatchObject({ method: "POST", url: "/v1/messages" });
  expect(seen[0]?.headers).toMatchObject({ "x-api-key": "key-1", "anthropic-version": "2023-06-01" });
  expect(seen[0]?.headers).not.toHaveProperty("authorization");
  const token = await answerTo(hello, { auth: { apiKey: "sk-ant-oat01-abc" } });
  expect(token.seen[0]?.headers).toMatchObject({
    authorization: "Bearer sk-ant-oat01-abc",
    "anthropic-beta": "oauth-2025-04-20",
  });
  expect(token.seen[0]?.headers).not.toHaveProperty("x-api-key");
});

test("an address works with the version at its end and without", async () => {
  for (const [suffix, path] of [
    ["", "/v1/messages"],
    ["/v1", "/v1/messages"],
    ["/v1/", "/v1/messages"],
    ["/proxy/anthropic", "/proxy/anthropic/v1/messages"],
  ] as const) {
    const { url, seen } = await serve(hello);
    await run({ auth: { baseUrl: url + suffix } });
    expect(seen[0]?.url).toBe(path);
  }
});

test("the service itself gets the SDK's version, and the old one only with what the new one refuses", async () => {
  const versionFor = async (temperature?: number) => {
    let version: string | null = null;
    const { message } = await run({
      temperature,
      fetch: async (url, init) => {
        expect(url).toBe("https://api.anthropic.com/v1/messages");
        version = new Headers(init?.headers).get("anthropic-version");
        return new Response(begin + textBlock("Hi") + finish("end_turn"));
      },
    });
    expect(message.stopReason).toBe("stop");
    return version;
  };
  expect(await versionFor()).toBe("2026-10-21");
  expect(await versionFor(0.5)).toBe("2023-06-01");
});

test("headers of the model, of the credentials and of hooks are sent, and null removes", async () => {
  const { seen } = await answerTo(hello, {
    model: model("claude-opus-5-5", { headers: { "X-Model": "1", "anthropic-beta": "mine" } }),
    thinkingLevel: "low",
    auth: { headers: { "X-Proxy": "2", "User-Agent": null } },
    onHeaders: async (headers) => {
      expect(headers["x-api-key"]).toBe("key-1");
      return { ...headers, "x-hook": "3", "x-api-key": null };
    },
  });
  expect(seen[0]?.headers).toMatchObject({
    "x-model": "1",
    "x-proxy": "2",
    "x-hook": "3",
    "anthropic-beta": "thinking-binding-controls-2026-08-01, mine",
  });
  expect(seen[0]?.headers).not.toHaveProperty("x-api-key");
});

test("the payload that a hook gives back is sent, and the head of the answer is told", async () => {
  const heads: number[] = [];
  const { seen } = await answerTo(hello, {
    onPayload: async (payload) => ({ ...(payload as object), metadata: { user_id: "u" } }),
    onResponse: async ({ status, headers }) => {
      heads.push(status);
      expect(headers.get("content-type")).toBe("text/event-stream");
    },
  });
  expect(seen[0]?.body).toMatchObject({ metadata: { user_id: "u" }, stream: true, model: "claude-haiku-4-5" });
  expect(heads).toEqual([200]);
});

test("a failed request is not sent again, and its head is told too", async () => {
  const heads: number[] = [];
  const { message, seen } = await answerTo(json(529, { error: { type: "overloaded_error", message: "Busy" } }), {
    onResponse: async ({ status }) => void heads.push(status),
  });
  expect(message.failure).toEqual({ kind: "overloaded", status: 529 });
  expect(seen).toHaveLength(1);
  expect(heads).toEqual([529]);
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
  const { url } = await serve((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(begin + textBlock("Half"));
  });
  const auth = { apiKey: "k", baseUrl: url };
  let last: unknown;
  for await (const batch of anthropicMessages.stream(createRequest({ auth, signal: controller.signal })))
    for (const event of batch) {
      if (event.type === "text_end") controller.abort();
      last = event;
    }
  expect(last).toMatchObject({ type: "error", reason: "aborted", error: { content: [{ text: "Half" }] } });
});

test("silence for longer than the timeout is a timeout, not an abort", async () => {
  const { message } = await answerTo(() => {}, { timeoutMs: 50 });
  expect(message).toMatchObject({ stopReason: "error", failure: { kind: "timeout" } });
});

test("keys and addresses in the environment are not used behind the request's back", async () => {
  process.env.ANTHROPIC_API_KEY = "env-key";
  process.env.ANTHROPIC_BASE_URL = "http://127.0.0.1:1";
  try {
    const { url, seen } = await serve(hello);
    await run({ auth: { baseUrl: url } });
    expect(seen[0]?.headers).not.toHaveProperty("x-api-key");
    expect(seen[0]?.headers).not.toHaveProperty("authorization");
  } finally {
    delete process.env.ANTHROPIC_API_KEY;
    delete process.env.ANTHROPIC_BASE_URL;
  }
});

test("the SDK is loaded by the first call, not by the import", () => {
  const script = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    await import(${JSON.stringify(join(import.meta.dirname, "../src/index.ts"))});
    if (loaded.some((url) => url.includes("@anthropic-ai"))) process.exit(7);
  `;
  const args = ["--conditions", "@pi-agent/source", "--input-type=module", "-e", script];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(status).toBe(0);
});
