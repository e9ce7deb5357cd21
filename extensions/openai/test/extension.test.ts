import { createAgent, type Extension, type Model } from "@pi-agent/kernel";
import { type Reply, replyHang, serveReplies, TEST_KEY } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import openai from "../src/index.ts";
import { createModel, DONE, frame, sse } from "./support.ts";

const tools: Extension = (pi) => {
  pi.registerTool({
    name: "look/up",
    description: "Looks something up.",
    parameters: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
    effect: "read",
    execute: async () => ({ content: [{ type: "text", text: "42" }] }),
  });
};

function createTestAgent(model: Model) {
  return createAgent({
    extensions: [openai, tools],
    model,
    systemPrompt: "Be brief.",
    host: { credentials: { names: () => [], resolve: async () => ({ apiKey: TEST_KEY }) } },
  });
}

const chatCall: Reply = (response, request) => {
  const [tool] = JSON.parse(JSON.stringify(request.body.tools));
  const call = { index: 0, id: "c1", function: { name: tool.function.name, arguments: '{"key":"a"}' } };
  sse({ choices: [{ delta: { tool_calls: [call] }, finish_reason: "tool_calls" }] }, DONE)(response, request);
};
const chatText = sse({ choices: [{ delta: { content: "It is 42." }, finish_reason: "stop" }] }, DONE);

const responsesCall: Reply = (response, request) => {
  const [tool] = JSON.parse(JSON.stringify(request.body.tools));
  const item = { type: "function_call", id: "fc_1", call_id: "c1", name: tool.name, arguments: '{"key":"a"}' };
  sse({ type: "response.output_item.done", output_index: 0, item }, { type: "response.completed", response: {} })(
    response,
    request,
  );
};
const responsesText = sse(
  { type: "response.output_text.delta", output_index: 0, delta: "It is 42." },
  { type: "response.completed", response: { usage: { input_tokens: 10, output_tokens: 5 } } },
);

test("E11 openai-completions: an agent calls a tool and answers, on the real kernel", async () => {
  await using server = await serveReplies(chatCall, chatText);
  const agent = createTestAgent(createModel({ baseUrl: server.url }));
  const { answer, outcome } = await agent.run("How much?");
  expect([answer, outcome]).toEqual(["It is 42.", "done"]);
  expect(server.seen[1]?.body.messages).toMatchObject([
    { role: "system" },
    { role: "user", content: "How much?" },
    { role: "assistant", content: null, tool_calls: [{ id: "c1" }] },
    { role: "tool", tool_call_id: "c1", content: "42" },
  ]);
  expect(await agent.dispose()).toEqual({ leaks: [] });
});

test("E11 openai-responses: an agent calls a tool and answers, on the real kernel", async () => {
  await using server = await serveReplies(responsesCall, responsesText);
  const agent = createTestAgent(createModel({ baseUrl: server.url, api: "openai-responses" }));
  const { answer, outcome, usage } = await agent.run("How much?");
  expect([answer, outcome]).toEqual(["It is 42.", "done"]);
  expect(usage).toMatchObject({ input: 10, output: 5 });
  expect(server.seen[1]?.body.input).toMatchObject([
    { role: "user" },
    { type: "function_call", call_id: "c1", arguments: '{"key":"a"}' },
    { type: "function_call_output", call_id: "c1", output: "42" },
  ]);
  expect(await agent.dispose()).toEqual({ leaks: [] });
});

test("F131 after an abort in the middle of a call the next prompt is legal", async () => {
  const call = { index: 0, id: "c1", function: { name: "look/up", arguments: '{"k' } };
  const half = replyHang(frame({ choices: [{ delta: { tool_calls: [call] } }] }));
  await using server = await serveReplies(half, chatText);
  const agent = createTestAgent(createModel({ baseUrl: server.url }));
  agent.on("message_update", () => void agent.abort());
  await agent.input("How much?");
  await agent.settled();
  await agent.input("Again.");
  await agent.settled();
  expect(server.seen[1]?.body.messages).toMatchObject([{ role: "system" }, { role: "user" }, { content: "Again." }]);
  await agent.dispose();
});

test("the provider brings its apis, its models and the variable of its key", async () => {
  const agent = createTestAgent(createModel());
  await agent.ready();
  expect([...agent.registry("api").keys()]).toEqual(["openai-completions", "openai-responses"]);
  const provider = agent.registry("provider").get("openai")?.value;
  expect(provider).toMatchObject({ env: ["OPENAI_API_KEY"], baseUrl: "https://api.openai.com/v1" });
  expect(provider?.models.map(({ id }) => id)).toContain("gpt-6.1-sol");
  await agent.dispose();
});
