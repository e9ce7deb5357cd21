import assert from "node:assert/strict";
import { test } from "node:test";
import { createAgent } from "@pi-agent/kernel";
import { scriptedProvider, testExtension } from "@pi-agent/testing";
import myExtension from "../src/index.ts";

// Eight tests of what every extension owes to its host.
testExtension(myExtension, { test });

test("the model calls the tool, and reads what it says", async () => {
  // It plays the model, turn by turn: no key, no network.
  const model = scriptedProvider([
    { calls: [{ name: "count_words", arguments: { text: "one two three" } }] },
    { text: "There are three." },
  ]);
  const agent = createAgent({ extensions: [myExtension, model] });
  const { answer, messages } = await agent.run("How many words are there in: one two three?");
  const result = messages.find((message) => message.role === "toolResult");
  assert.deepEqual(result?.content, [{ type: "text", text: "3 words" }]);
  assert.equal(answer, "There are three.");
  assert.deepEqual(await agent.dispose(), { leaks: [] });
});
