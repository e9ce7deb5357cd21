import { readFileSync } from "node:fs";
import { createAgent } from "@pi-agent/kernel";
import { lastResults, scriptedProvider, tempProject } from "@pi-agent/testing";
import { runPi } from "@pi-agent/testing/house";
import { modelsJson, startWireServer } from "@pi-agent/testing/wire";
import { expect, test } from "vitest";
import hello from "../src/index.ts";

const SOURCE = readFileSync(new URL("../src/index.ts", import.meta.url), "utf8");
const TURNS = [
  { calls: [{ name: "greet", arguments: { name: "Ada" } }] },
  { calls: [{ name: "greet", arguments: { name: "Grace" } }] },
  { text: "Both are greeted." },
];
const GREETINGS = ["Hello, Ada! That makes 1.", "Hello, Grace! That makes 2."];

test("the model is offered the tool, calls it, and reads what it said", async () => {
  const provider = scriptedProvider(TURNS);
  const agent = createAgent({ extensions: [hello, provider] });
  const { answer, messages } = await agent.run("Greet Ada and Grace.");
  expect(answer).toBe("Both are greeted.");
  expect(provider.requests[0]?.tools.map(({ name }) => name)).toEqual(["greet"]);
  const results = messages.filter((message) => message.role === "toolResult");
  expect(results.map(({ content }) => content)).toEqual(GREETINGS.map((text) => [{ type: "text", text }]));
  expect(await agent.dispose()).toEqual({ leaks: [] });
});

test("a call without a name is told to the model and greets nobody", async () => {
  const provider = scriptedProvider([{ calls: [{ name: "greet", arguments: {} }] }, TURNS[0]!, { text: "Sorry." }]);
  const agent = createAgent({ extensions: [hello, provider] });
  const { messages } = await agent.run("Greet.");
  const texts = messages.flatMap((message) => (message.role === "toolResult" ? message.content : []));
  expect(texts).toMatchObject([{ text: expect.stringContaining("name") }, { text: GREETINGS[0] }]);
  await agent.dispose();
});

test("as a file in the folder of one's own extensions, the command loads it", async () => {
  await using project = await tempProject({ agentFiles: { "extensions/hello.ts": SOURCE } });
  const server = await startWireServer({ script: TURNS });
  await project.write(`${project.agentDir}/models.json`, JSON.stringify(modelsJson(server.url)));
  const run = runPi(["-p", "Greet Ada and Grace.", "--model", "wire-anthropic/scripted"], {
    cwd: project.path,
    home: project.home,
  });
  const { code, stdout, stderr } = await run.done;
  await server.close();
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "Both are greeted.\n", stderr: "" });
  const results = server.requests.slice(1).map(({ neutral }) => lastResults(neutral!)[0]?.text);
  expect(results).toEqual(GREETINGS);
  expect(server.refusals()).toEqual([]);
  expect(run.leftovers()).toEqual([]);
});
