import { expect, test } from "vitest";
import { showPrompt } from "../../src/commands/prompt.ts";
import { createScriptedAgent } from "../scripted-agent.ts";

const TEXT = "be\u001b[2J \u202ekind";

test.each([
  [true, "be\ufffd[2J \ufffdkind"],
  [false, TEXT],
])("pi prompt is made safe to show where standard output is a terminal: %s", async (isTTY, expected) => {
  const agent = createScriptedAgent([], { systemPrompt: TEXT });
  let written = "";
  const output = { stream: { isTTY }, write: (text: string) => void (written += text) };
  expect(await showPrompt(agent, output as never)).toBe(0);
  expect(written).toContain(`tokens\n${expected}\n`);
  await agent.dispose();
});
