import { expect, test } from "vitest";
import { createAgent, type Entry, type ExtensionAPI, type SystemMessage } from "../src/index.ts";
import { calls, model, scripted, text, tool } from "./scripted.ts";

const section =
  (name: string, slot: "rules" | "cwd" | "preamble", body: string | (() => string)) => (pi: ExtensionAPI) =>
    void pi.register("section", name, { slot, text: body });

const systemMessages = (path: readonly Entry[]) =>
  path.flatMap((entry) =>
    entry.type === "message" && entry.message.role === "system" ? [entry.message as SystemMessage] : [],
  );

test("sections are rendered in the order of their slots, each but the preamble in a tag of its name", async () => {
  const provider = scripted();
  await createAgent({
    systemPrompt: "You help.",
    extensions: [
      provider,
      section("cwd", "cwd", "/here"),
      section("rules", "rules", () => "Be brief."),
      section("empty", "rules", ""),
    ],
  }).run("go");
  expect(provider.requests[0]?.systemPrompt).toBe("You help.\n\n<rules>\nBe brief.\n</rules>\n\n<cwd>\n/here\n</cwd>");
});

test("a section that fails is reported and left out", async () => {
  const broken = section("rules", "rules", () => {
    throw new Error("no rules");
  });
  const agent = createAgent({ systemPrompt: "P", extensions: [scripted(), broken] });
  const told: string[] = [];
  agent.on("extension_error", ({ event }) => void told.push(event));
  await agent.run("go");
  expect([told, agent.state.systemPrompt]).toEqual([["section:rules"], "P"]);
});

test("the transcript records prompt and tools at a run's start, and afterwards only what changed", async () => {
  let rules = "one";
  const agent = createAgent({
    systemPrompt: "P",
    extensions: [scripted(), tool("a"), section("rules", "rules", () => rules)],
  });
  await agent.input("first");
  await agent.settled();
  await agent.input("second");
  await agent.settled();
  rules = "two";
  agent.setActiveTools([]);
  await agent.input("third");
  await agent.settled();
  expect(systemMessages(agent.transcript.path())).toMatchObject([
    { sections: { preamble: "P", rules: "one" }, toolsAdded: [{ name: "a" }] },
    { sections: { rules: "two" }, toolsRemoved: [{ name: "a" }] },
  ]);
  expect(agent.transcript.project().every(({ role }) => role !== ("system" as never))).toBe(true);
});

test("a stored session restores model, thinking level and tool names, and never instructions", async () => {
  const first = createAgent({
    systemPrompt: "Obey the session.",
    thinkingLevel: "high",
    extensions: [scripted(), tool("a"), tool("b")],
    activeTools: ["b"],
  });
  await first.input("go");
  await first.settled();
  const provider = scripted();
  const official = (name: string) => ({ extension: tool(name), owner: { name, scope: "official" as const } });
  const second = createAgent({
    extensions: [provider, official("a"), official("b"), tool("new")],
    entries: first.transcript.path(),
  });
  await second.ready();
  expect(second.state).toMatchObject({ thinkingLevel: "high", model: { id: model.id } });
  await second.input("on");
  await second.settled();
  expect(provider.requests[0]?.tools.map(({ name }) => name)).toEqual(["b", "new"]);
  expect(provider.requests[0]?.systemPrompt).toBe("");
});

test("before_agent_start may add messages and replace the prompt for this run only", async () => {
  const provider = scripted();
  let isFirst = true;
  const starter = (pi: ExtensionAPI) =>
    void pi.on("before_agent_start", ({ systemPrompt }) => {
      if (!isFirst) return;
      isFirst = false;
      return { systemPrompt: `${systemPrompt} Hurry.`, message: { customType: "note", content: "n", display: false } };
    });
  const agent = createAgent({ systemPrompt: "P", extensions: [provider, starter] });
  for (const prompt of ["a", "b"]) {
    await agent.input(prompt);
    await agent.settled();
  }
  expect(provider.requests.map(({ systemPrompt }) => systemPrompt)).toEqual(["P Hurry.", "P"]);
  expect(provider.requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "custom"]);
});

test("stores hear of every entry when it is appended, and are flushed before each provider call", async () => {
  const order: string[] = [];
  const store = (pi: ExtensionAPI) => {
    pi.on("transcript_append", ({ entry }) => void order.push(entry.type));
    pi.on("transcript_flush", async ({ reason }) => {
      await Promise.resolve();
      order.push(`flush ${reason}`);
    });
  };
  const provider = scripted(() => (order.push("call"), text("ok")));
  const agent = createAgent({ extensions: [provider, store] });
  await agent.run("go");
  await agent.dispose();
  expect(order).toEqual([
    "model_change",
    "thinking_level_change",
    "message",
    "flush turn",
    "call",
    "message",
    "flush settled",
    "flush dispose",
  ]);
});

test("run starts on a fresh transcript each time", async () => {
  const provider = scripted(calls(["1", "a"]));
  const agent = createAgent({ extensions: [provider, tool("a")] });
  await agent.run("one");
  const { messages } = await agent.run("two");
  expect(messages.map(({ content }) => content)).toContain("two");
  expect(provider.requests.at(-1)?.messages).toHaveLength(1);
});
