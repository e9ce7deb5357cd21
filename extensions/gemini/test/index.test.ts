import { createAgent, type Extension, type Message } from "@pi-agent/kernel";
import {
  assertUsableModels,
  type Reply,
  replyJson,
  replyStream,
  serveReplies,
  TEST_KEY,
} from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import gemini from "../src/index.ts";
import { MODELS } from "../src/models.ts";
import { finish, parts, sse } from "./chunks.ts";

const files: Extension = (pi) => {
  pi.registerTool({
    name: "read",
    description: "Reads a file.",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    effect: "read",
    execute: async (_id, { path }) => ({ content: [{ type: "text", text: `content of ${String(path)}` }] }),
  });
};

function createTestAgent(baseUrl: string) {
  return createAgent({
    extensions: [gemini, files],
    model: "google/gemini-3.8-flash",
    systemPrompt: "Be brief.",
    host: { credentials: { names: () => [], resolve: async () => ({ apiKey: TEST_KEY, baseUrl }) } },
  });
}

const SIGNED = { functionCall: { name: "read", args: { path: "a.txt" } }, thoughtSignature: "s1" };
const UNSIGNED = { functionCall: { name: "read", args: { path: "b.txt" } } };

/** Refuses, as the service does, a history whose calls are not exactly what it gave. */
const strict =
  (expected: unknown, answer: Reply): Reply =>
  (response, seen) => {
    const contents = JSON.stringify(seen.body.contents);
    if (contents === JSON.stringify(expected)) answer(response, seen);
    else replyJson(400, { error: { message: `not ${contents}`, status: "INVALID_ARGUMENT" } })(response, seen);
  };

test("E11 F116 an agent answers two calls of one name in one content each way, on the real kernel", async () => {
  const result = (path: string) => ({
    functionResponse: { name: "read", response: { output: `content of ${path}` } },
  });
  await using server = await serveReplies(
    replyStream(sse(parts(SIGNED)), sse(parts(UNSIGNED), finish("STOP"))),
    strict(
      [
        { role: "user", parts: [{ text: "Compare." }] },
        { role: "model", parts: [SIGNED, UNSIGNED] },
        { role: "user", parts: [result("a.txt"), result("b.txt")] },
      ],
      replyStream(sse(parts({ text: "They differ." }), finish("STOP"))),
    ),
  );
  const agent = createTestAgent(server.url);
  const { answer, outcome, usage, messages } = await agent.run("Compare.");
  expect([answer, outcome]).toEqual(["They differ.", "done"]);
  expect(usage).toMatchObject({ input: 20, output: 10 });
  expect(messages.filter(({ role }: Message) => role === "toolResult")).toHaveLength(2);
  expect(await agent.dispose()).toEqual({ leaks: [] });
});

test("F119 a malformed call ends a run as an error that names it", async () => {
  await using server = await serveReplies(
    replyStream(sse(finish("MALFORMED_FUNCTION_CALL", { finishMessage: "Malformed." }))),
  );
  const agent = createTestAgent(server.url);
  const { outcome, messages } = await agent.run("Go.");
  expect(outcome).toBe("error");
  expect(messages.at(-1)).toMatchObject({
    failure: { kind: "malformed_response" },
    errorMessage: "google: Malformed (MALFORMED_FUNCTION_CALL).",
  });
  await agent.dispose();
});

test("every model has what choosing and pricing it need", () => {
  assertUsableModels(MODELS);
});
