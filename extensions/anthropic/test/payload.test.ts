import type { Message, ProviderRequest, ThinkingLevel } from "@pi-agent/kernel";
import { assistantMessage, toolCall, toolResult, usageOf, userMessage } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import { toPayload } from "../src/payload.ts";
import { createRequest, model } from "./events.ts";

const tool = (name: string, parameters = {}) => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: "object", properties: {}, ...parameters },
});
const body = (changes: Partial<ProviderRequest>) =>
  toPayload(createRequest(changes)).body as unknown as Record<string, unknown>;
const thinking = (id: string, thinkingLevel: ThinkingLevel, changes: Partial<ProviderRequest> = {}) => {
  const sent = body({ model: model(id), thinkingLevel, ...changes });
  return { max_tokens: sent.max_tokens, thinking: sent.thinking, output_config: sent.output_config };
};
const marked = (value: unknown): unknown[] =>
  typeof value !== "object" || value === null
    ? []
    : [...("cache_control" in value ? [value] : []), ...Object.values(value).flatMap(marked)];

test("nothing is sent that was not asked for", () => {
  expect(body({})).toEqual({
    model: "claude-haiku-4-5",
    messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    max_tokens: 64_000,
    stream: true,
  });
});

test("a model with budgets gets one, with room left for the answer", () => {
  const { thinking: enabled, max_tokens } = thinking("claude-haiku-4-5", "medium");
  expect(enabled).toEqual({ type: "enabled", budget_tokens: 8_192 });
  expect(max_tokens).toBe(64_000);
  expect(thinking("claude-haiku-4-5", "high", { maxTokens: 500 })).toMatchObject({
    thinking: { budget_tokens: 15_860 },
    max_tokens: 16_884,
  });
  expect(thinking("claude-haiku-4-5", "max")).toMatchObject({ thinking: { budget_tokens: 16_384 } });
});

test("a model with efforts thinks adaptively, and shows it", () => {
  const adaptive = { type: "adaptive", display: "summarized" };
  expect(thinking("claude-opus-4-8", "minimal")).toMatchObject({
    thinking: adaptive,
    output_config: { effort: "low" },
  });
  expect(thinking("claude-opus-4-8", "xhigh")).toMatchObject({ output_config: { effort: "xhigh" } });
  expect(thinking("claude-opus-4-6", "xhigh")).toMatchObject({ output_config: { effort: "max" } });
  expect(thinking("claude-opus-4-8", "off")).toMatchObject({ thinking: undefined, output_config: undefined });
  expect(thinking("claude-opus-5", "off")).toMatchObject({ thinking: { type: "disabled" } });
  expect(thinking("claude-opus-5-5", "off")).toMatchObject({
    thinking: { type: "adaptive", display: "omitted" },
    output_config: { effort: "low" },
  });
});

test("the style follows the version in an id that the catalogue does not have, or what compat says", () => {
  const of = (id: string, compat?: ProviderRequest["model"]["compat"]) => {
    const strange = { ...model("claude-haiku-4-5"), id, compat };
    return (body({ model: strange, thinkingLevel: "low" }).thinking as { type: string }).type;
  };
  expect(of("claude-sonnet-4-5-20250929")).toBe("enabled");
  expect(of("claude-3-7-sonnet-20250219")).toBe("enabled");
  expect(of("anthropic/claude-opus-4.10")).toBe("adaptive");
  expect(of("claude-sonnet-6")).toBe("adaptive");
  expect(of("glm-5")).toBe("enabled");
  expect(of("glm-5", { forceAdaptiveThinking: true })).toBe("adaptive");
});

test("thinking that is bound to its conversation never fails a request whose history has changed", () => {
  const request = createRequest({ model: model("claude-opus-5-5"), thinkingLevel: "high" });
  const { body: sent, betas } = toPayload(request);
  expect(sent.thinking).toMatchObject({ block_binding: { prefix_mismatch_behavior: "drop_block" } });
  expect(betas).toEqual(["thinking-binding-controls-2026-08-01"]);
  const haiku = model("claude-haiku-5-5");
  const messages: Message[] = [
    userMessage("Hello"),
    assistantMessage(haiku, [
      { type: "thinking", thinking: "Hm", thinkingSignature: "s" },
      { type: "text", text: "Hi" },
    ]),
    userMessage("More"),
  ];
  expect(JSON.stringify(body({ model: haiku, messages, thinkingLevel: "off" }).messages)).not.toMatch(/thinking/);
  expect(JSON.stringify(body({ model: haiku, messages, thinkingLevel: "low" }).messages)).toMatch(/thinking/);
});

test("temperature goes only to a model that takes it and does not think", () => {
  expect(body({ temperature: 0.5 })).toMatchObject({ temperature: 0.5 });
  expect(body({ temperature: 0.5, thinkingLevel: "high" })).not.toHaveProperty("temperature");
  expect(body({ temperature: 0.5, model: model("claude-opus-4-8") })).not.toHaveProperty("temperature");
  const tuned = { ...model("claude-haiku-4-5"), samplingParams: { top_k: 3 } };
  expect(body({ model: tuned })).toMatchObject({ top_k: 3 });
});

test("the answer gets no more tokens than still fit into the window", () => {
  const usage = usageOf({ totalTokens: 170_000 });
  const messages: Message[] = [
    assistantMessage(model("claude-haiku-4-5"), [{ type: "text", text: "a" }], { usage }),
    userMessage("x".repeat(7_000)),
  ];
  expect(body({ messages }).max_tokens).toBe(200_000 - 172_000 - 4_096);
  expect(body({ messages: [userMessage("x".repeat(700_000))] }).max_tokens).toBe(1);
});

test("the marks for the cache stand at the end of tools, prompt and the last two turns, and nowhere without it", () => {
  const messages: Message[] = [userMessage("one"), userMessage("two"), userMessage("three")];
  const tools = [tool("a"), tool("b")];
  const long = body({ messages, tools, systemPrompt: "Be kind.", cacheRetention: "long" });
  const mark = { type: "ephemeral", ttl: "1h" };
  expect(marked(long)).toMatchObject([
    { text: "two", cache_control: mark },
    { text: "three", cache_control: mark },
    { text: "Be kind.", cache_control: mark },
    { name: "b", cache_control: mark },
  ]);
  expect(marked(body({ messages, tools, systemPrompt: "Be kind.", cacheRetention: "none" }))).toEqual([]);
  expect(marked(body({ messages, cacheRetention: "short" }))).toMatchObject([
    { cache_control: { type: "ephemeral" } },
    { cache_control: { type: "ephemeral" } },
  ]);
});

test("of the marks on turns the one that wrote last stays where it was", () => {
  const turns = [Object.freeze(userMessage("one")), Object.freeze(userMessage("two"))];
  const places = (count: number) => {
    const sent = body({ messages: [...turns, userMessage("three")].slice(0, count), cacheRetention: "short" });
    return (sent.messages as unknown[]).flatMap((message, at) => (marked(message).length > 0 ? [at] : []));
  };
  expect([places(1), places(2), places(3)]).toEqual([[0], [0, 1], [1, 2]]);
});

test("a schema with a union at its top is made an object, and told in words", () => {
  const union = { anyOf: [{ type: "object", properties: { path: { type: "string" } }, required: ["path"] }] };
  const [sent] = body({ tools: [{ name: "t", description: "D.", parameters: union }] }).tools as {
    description: string;
    input_schema: object;
  }[];
  expect(sent?.input_schema).toEqual({
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
  });
  expect(sent?.description).toBe(`D.\n\nThe arguments must match this JSON Schema: ${JSON.stringify(union)}`);
});

test("F115 a loop of tools that another model began goes on without a budget to think", () => {
  const messages: Message[] = [
    userMessage("Go"),
    assistantMessage({ ...model("claude-haiku-4-5"), id: "gemini-3.8-flash" }, [toolCall("t1")]),
    toolResult("t1"),
  ];
  expect(body({ messages, thinkingLevel: "high" })).not.toHaveProperty("thinking");
  expect(body({ messages: messages.slice(0, 1), thinkingLevel: "high" })).toHaveProperty("thinking");
  expect(body({ messages, thinkingLevel: "high", model: model("claude-opus-5") })).toHaveProperty("thinking");
});
