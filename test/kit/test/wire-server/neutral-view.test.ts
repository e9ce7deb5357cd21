import { expect, test } from "vitest";
import { lastUserText, type NeutralRequest } from "../../src/index.ts";
import { modelsJson, WIRE_PROVIDERS } from "../../src/wire.ts";
import { type Body, openWire, type WireName } from "./exchange.ts";

const SCHEMA = { type: "object", properties: {} };
const PNG = "iVBORw0KGgo=";

const BODIES: Record<WireName, Body> = {
  anthropic: {
    model: "scripted",
    max_tokens: 9,
    stream: true,
    system: [{ type: "text", text: "Be kind." }],
    tools: [{ name: "read", description: "Reads.", input_schema: SCHEMA }],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "Look." },
          { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Yes." },
          { type: "tool_use", id: "a", name: "read", input: { path: "x" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: "alpha" },
          { type: "text", text: "And?" },
        ],
      },
    ],
  },
  chat: {
    model: "scripted",
    stream: true,
    tools: [{ type: "function", function: { name: "read", description: "Reads.", parameters: SCHEMA } }],
    messages: [
      { role: "system", content: "Be kind." },
      {
        role: "user",
        content: [
          { type: "text", text: "Look." },
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
        ],
      },
      {
        role: "assistant",
        content: "Yes.",
        tool_calls: [{ id: "a", type: "function", function: { name: "read", arguments: '{"path":"x"}' } }],
      },
      { role: "tool", tool_call_id: "a", content: "alpha" },
      { role: "user", content: "And?" },
    ],
  },
  responses: {
    model: "scripted",
    stream: true,
    instructions: "Be kind.",
    tools: [{ type: "function", name: "read", description: "Reads.", parameters: SCHEMA }],
    input: [
      {
        role: "user",
        content: [
          { type: "input_text", text: "Look." },
          { type: "input_image", image_url: `data:image/png;base64,${PNG}` },
        ],
      },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Yes.", annotations: [] }] },
      { type: "function_call", call_id: "a", name: "read", arguments: '{"path":"x"}' },
      { type: "function_call_output", call_id: "a", output: "alpha" },
      { role: "user", content: "And?" },
    ],
  },
  gemini: {
    systemInstruction: { parts: [{ text: "Be kind." }] },
    tools: [{ functionDeclarations: [{ name: "read", description: "Reads.", parametersJsonSchema: SCHEMA }] }],
    contents: [
      { role: "user", parts: [{ text: "Look." }, { inlineData: { mimeType: "image/png", data: PNG } }] },
      {
        role: "model",
        parts: [
          { text: "Yes." },
          {
            functionCall: { id: "a", name: "read", args: { path: "x" } },
            thoughtSignature: "skip_thought_signature_validator",
          },
        ],
      },
      {
        role: "user",
        parts: [{ functionResponse: { id: "a", name: "read", response: { output: "alpha" } } }, { text: "And?" }],
      },
    ],
  },
};

test.for(Object.keys(BODIES) as WireName[])("%s requests read the same in neutral terms", async (format) => {
  const seen: NeutralRequest[] = [];
  const wire = await openWire(format, (request) => {
    seen.push(request);
    return { text: lastUserText(request) };
  });
  const { status, text } = await wire.send(BODIES[format]);
  expect({ status, text }).toEqual({ status: 200, text: expect.stringContaining("And?") });
  expect(seen).toEqual([
    {
      format,
      model: "scripted",
      system: "Be kind.",
      tools: [{ name: "read", description: "Reads.", schema: SCHEMA }],
      messages: [
        { role: "user", text: "Look.", images: 1 },
        { role: "assistant", text: "Yes.", thinking: "", calls: [{ id: "a", name: "read", arguments: { path: "x" } }] },
        expect.objectContaining({ role: "tool", callId: "a", text: "alpha", images: 0 }),
        { role: "user", text: "And?", images: 0 },
      ],
    },
  ]);
  expect(wire.server.requests[0]).toMatchObject({ format, body: BODIES[format], neutral: seen[0], ending: "complete" });
  await wire.server.close();
});

test("a models.json has one provider per format, each at the place its API is looked for", () => {
  const { providers } = modelsJson("http://127.0.0.1:1");
  expect(Object.keys(providers)).toEqual([...WIRE_PROVIDERS]);
  expect(Object.values(providers).map(({ api, baseUrl }) => [api, baseUrl])).toEqual([
    ["anthropic-messages", "http://127.0.0.1:1"],
    ["openai-completions", "http://127.0.0.1:1/v1"],
    ["openai-responses", "http://127.0.0.1:1/v1"],
    ["google-generative-ai", "http://127.0.0.1:1/v1beta"],
  ]);
});
