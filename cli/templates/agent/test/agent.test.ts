import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createAgent } from "@pi-agent/kernel";
import { scriptedProvider, testExtension } from "@pi-agent/testing";
import countWords from "../tools/count-words.ts";

const FOLDER = join(import.meta.dirname, "..");
const { tools } = JSON.parse(readFileSync(join(FOLDER, "agent.json"), "utf8")) as { tools: string[] };

test("the agent starts, with the tools that its file lists and with its own prompt", () => {
  // A home of its own, so that nothing of yours changes what is tested.
  const home = mkdtempSync(join(tmpdir(), "my-agent-"));
  try {
    const said = execFileSync(process.execPath, [join(FOLDER, "bin.js"), "prompt", "--json"], {
      cwd: home,
      env: { ...process.env, HOME: home, PI_CODING_AGENT_DIR: "" },
      encoding: "utf8",
    });
    const prompt = JSON.parse(said) as { sections: { text: string }[]; tools: { name: string }[] };
    assert.deepEqual(prompt.tools.map(({ name }) => name).sort(), tools.toSorted());
    assert.match(prompt.sections[0]!.text, /^You are my-agent\./);
  } finally {
    rmSync(home, { recursive: true });
  }
});

// Eight tests of what every extension owes to its host; a tool of your own is one.
testExtension(countWords, { test });

test("the model calls the tool, and reads what it says", async () => {
  // It plays the model, turn by turn: no key, no network.
  const model = scriptedProvider([
    { calls: [{ name: "count_words", arguments: { text: "one two three" } }] },
    { text: "There are three." },
  ]);
  const agent = createAgent({ extensions: [countWords, model] });
  const { messages } = await agent.run("How many words are there in: one two three?");
  const result = messages.find((message) => message.role === "toolResult");
  assert.deepEqual(result?.content, [{ type: "text", text: "3 words" }]);
  await agent.dispose();
});
