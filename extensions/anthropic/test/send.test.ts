import { join } from "node:path";
import { listLoadedModules, providerClaims, replyStream, serveReplies, TEST_KEY } from "@pi-agent/testing/provider";
import { expect, onTestFinished, test, vi } from "vitest";
import { anthropicMessages } from "../src/api.ts";
import { answerTo, begin, finish, model, run, textBlock } from "./events.ts";

const hello = replyStream(begin, textBlock("Hi"), finish("end_turn"));

test("a key goes as x-api-key, never as a bearer token, and a subscription's token the other way", async () => {
  const { seen } = await answerTo(hello);
  expect(seen[0]).toMatchObject({ method: "POST", url: "/v1/messages" });
  expect(seen[0]?.headers).toMatchObject({ "x-api-key": TEST_KEY, "anthropic-version": "2023-06-01" });
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
    await using server = await serveReplies(hello);
    await run({ auth: { baseUrl: server.url + suffix } });
    expect(server.seen[0]?.url).toBe(path);
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
      expect(headers["x-api-key"]).toBe(TEST_KEY);
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

test.each(
  providerClaims({
    api: anthropicMessages,
    model: model("claude-haiku-4-5"),
    overloaded: { status: 529, body: { error: { type: "overloaded_error", message: "Busy" } } },
    half: begin + textBlock("Half"),
  }),
)("%s", (_claim, check) => check());

test("keys and addresses in the environment are not used behind the request's back", async () => {
  process.env.ANTHROPIC_API_KEY = "env-key";
  process.env.ANTHROPIC_BASE_URL = "http://127.0.0.1:1";
  try {
    await using server = await serveReplies(hello);
    await run({ auth: { baseUrl: server.url } });
    expect(server.seen[0]?.headers).not.toHaveProperty("x-api-key");
    expect(server.seen[0]?.headers).not.toHaveProperty("authorization");
  } finally {
    delete process.env.ANTHROPIC_API_KEY;
    delete process.env.ANTHROPIC_BASE_URL;
  }
});

test("custom headers and tokens in the environment are sent to nobody", async () => {
  vi.stubEnv(
    "ANTHROPIC_CUSTOM_HEADERS",
    "X-Secret: env-secret\nanthropic-beta: env-beta\nAuthorization: Bearer env-token",
  );
  vi.stubEnv("ANTHROPIC_AUTH_TOKEN", "env-token");
  vi.stubEnv("ANTHROPIC_IDENTITY_TOKEN", "env-token");
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const apiKey of [TEST_KEY, undefined]) {
    const { seen } = await answerTo(hello, { auth: { apiKey } });
    expect(seen).toHaveLength(1);
    expect(JSON.stringify(seen[0]?.headers)).not.toMatch(/env-/);
  }
});

test("the SDK is loaded by the first call, not by the import", () => {
  const loaded = listLoadedModules(join(import.meta.dirname, "../src/index.ts"));
  expect(loaded.filter((url) => url.includes("@anthropic-ai"))).toEqual([]);
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
