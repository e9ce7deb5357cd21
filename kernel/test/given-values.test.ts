import { expect, test } from "vitest";
import { createAgent, type ExtensionAPI } from "../src/index.ts";
import { faultsOf, named, prompt } from "./named.ts";
import { scripted } from "./scripted.ts";

async function open() {
  let pi!: ExtensionAPI;
  const agent = createAgent({ extensions: [scripted(), named("x", (api) => void (pi = api))] });
  const faults = faultsOf(agent);
  await prompt(agent);
  return { agent, pi, faults };
}

test.each<[string, unknown]>([
  ["nothing", null],
  ["an empty object", {}],
  ["a number for its type", { type: 5 }],
  ["an empty type", { type: "" }],
  ["a message that is nothing", { type: "message", message: null }],
])("K7: an entry that is %s is not stored", async (_what, draft) => {
  const { agent, pi } = await open();
  const { size } = agent.transcript;
  expect(() => pi.append([draft as never])).toThrow(expect.objectContaining({ code: "invalid_entry" }));
  expect(agent.transcript.size).toBe(size);
});

test.each<[string, Parameters<ExtensionAPI["sendMessage"]>[1]]>([
  ["is only kept", {}],
  ["triggers a turn", { triggerTurn: true }],
  ["follows up", { triggerTurn: true, deliverAs: "followUp" }],
  ["waits for the next turn", { deliverAs: "nextTurn" }],
])("K7: a message of an extension without its type or its display is refused when it %s", async (_what, options) => {
  const { agent, pi } = await open();
  const { size } = agent.transcript;
  for (const message of [{ content: "x" }, { content: "x", customType: "c" }, { content: "x", display: true }, null]) {
    expect(() => pi.sendMessage(message as never, options)).toThrow(expect.objectContaining({ code: "invalid_entry" }));
  }
  await agent.settled();
  expect([agent.transcript.size, agent.queue.steering, agent.queue.followUp]).toEqual([size, [], []]);
});

test("K7: what is no thinking level, and what is no model, is refused and changes nothing", async () => {
  const { agent, pi, faults } = await open();
  const { model } = agent.state;
  const error = { code: "invalid_choice", hint: expect.stringMatching(/\w/) };
  expect(() => pi.setThinkingLevel("ultra" as never)).toThrow(expect.objectContaining(error));
  expect(() => agent.setThinkingLevel(undefined as never)).toThrow(expect.objectContaining(error));
  for (const given of ["scripted/scripted", undefined, {}, { ...model, id: "" }]) {
    await expect(pi.setModel(given as never)).rejects.toMatchObject(error);
  }
  await prompt(agent);
  expect([agent.state.model, agent.state.thinkingLevel, faults]).toEqual([model, "medium", []]);
});
