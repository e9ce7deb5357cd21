import { createAgent, type Extension } from "@pi-agent/kernel";
import { assertUsableModels, replyStream, serveReplies, TEST_KEY } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import anthropic from "../src/index.ts";
import { MODELS } from "../src/models.ts";
import { begin, finish, model, sse, textBlock } from "./events.ts";

const clock: Extension = (pi) => {
  pi.registerTool({
    name: "clock.now",
    description: "Tells the time.",
    parameters: { type: "object", properties: {} },
    effect: "read",
    execute: async () => ({ content: [{ type: "text", text: "noon" }] }),
  });
};

function createTestAgent(baseUrl: string) {
  return createAgent({
    extensions: [anthropic, clock],
    model: "anthropic/claude-haiku-4-5",
    systemPrompt: "Be brief.",
    host: { credentials: { names: () => [], resolve: async () => ({ apiKey: TEST_KEY, baseUrl }) } },
  });
}

test("E11 an agent thinks, calls a tool and answers, with the thinking sent back, on the real kernel", async () => {
  await using server = await serveReplies(
    (response, received) => {
      const [tool] = received.body.tools as { name: string }[];
      const thinking = { type: "thinking", thinking: "Hm", signature: "s1" };
      const call = { type: "tool_use", id: "t1", name: tool?.name, input: {} };
      const blocks = sse(
        { type: "content_block_start", index: 0, content_block: thinking },
        { type: "content_block_stop", index: 0 },
        { type: "content_block_start", index: 1, content_block: call },
        { type: "content_block_stop", index: 1 },
      );
      replyStream(begin, blocks, finish("tool_use"))(response, received);
    },
    replyStream(begin, textBlock("It is noon."), finish("end_turn")),
  );
  const agent = createTestAgent(server.url);
  const { answer, outcome, usage } = await agent.run("What time is it?");
  expect([answer, outcome]).toEqual(["It is noon.", "done"]);
  expect(usage).toMatchObject({ input: 20, output: 10 });
  const [tool] = server.seen[1]!.body.tools as { name: string }[];
  expect(server.seen[1]?.body.messages).toMatchObject([
    { role: "user", content: [{ text: "What time is it?" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm", signature: "s1" },
        { type: "tool_use", id: "t1", name: tool?.name, input: {} },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: [{ text: "noon" }] }] },
  ]);
  expect(await agent.dispose()).toEqual({ leaks: [] });
});

test("F125 after pause_turn the service is asked again, with its own blocks as they came", async () => {
  const search = { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} };
  const blocks = sse(
    { type: "content_block_start", index: 1, content_block: search },
    { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"q":"x"}' } },
    { type: "content_block_stop", index: 1 },
  );
  await using server = await serveReplies(
    replyStream(begin, textBlock("Let me look."), blocks, finish("pause_turn")),
    replyStream(begin, textBlock("Found."), finish("end_turn")),
  );
  const agent = createTestAgent(server.url);
  const { answer, outcome } = await agent.run("Look it up.");
  expect([answer, outcome]).toEqual(["Found.", "done"]);
  expect((server.seen[1]!.body.messages as unknown[]).at(-1)).toEqual({
    role: "assistant",
    content: [
      { type: "text", text: "Let me look." },
      { ...search, input: { q: "x" } },
    ],
  });
  await agent.dispose();
});

test("every model has what choosing and pricing it need", () => {
  assertUsableModels(MODELS);
  expect(model("claude-opus-5-5").cost.cacheWrite).toBe(5);
});
