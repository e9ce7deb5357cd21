import { expect, test } from "vitest";
import { createAgent, type Message } from "../src/index.ts";
import { faultsOf, named, prompt } from "./named.ts";
import { scripted } from "./scripted.ts";

const said = { role: "user", content: "x", timestamp: 1 };

test.each<[string, () => unknown]>([
  ["a number", () => 5],
  ["a message that is in no list", () => said],
  ["a list of nothing", () => [null]],
  ["a promise", async () => [said]],
  ["a promise that fails", () => Promise.reject(new Error("late"))],
  ["a message without a role", () => [{ content: "x" }]],
  ["a message without content", () => [{ role: "user" }]],
  ["what is no JSON", () => [{ ...said, when: new Date() }]],
  ["one sound message and one that is not", () => [said, { role: "user" }]],
])("K7 K13: a projector that answers %s is reported, and its entry left out", async (_what, answer) => {
  const script = scripted();
  const agent = createAgent({
    extensions: [script, named("bad", (pi) => void pi.register("projector", "note", answer as never))],
  });
  const faults = faultsOf(agent);
  await agent.ready();
  agent.append([{ type: "custom", customType: "note", data: 1 }]);
  await prompt(agent);
  expect(new Set(faults)).toEqual(new Set(["bad projector:note invalid_projection"]));
  expect(script.requests.map(({ messages }) => messages.map(({ role }) => role))).toEqual([["user"]]);
});

test("K7: what a projector answers cannot be changed afterwards, and nothing is a fine answer", async () => {
  const mine = { role: "user", content: [{ type: "text", text: "a" }], timestamp: 1 };
  const script = scripted();
  const agent = createAgent({
    extensions: [
      script,
      named("good", (pi) => {
        pi.register("projector", "note", () => [mine as Message]);
        pi.register("projector", "silent", (() => undefined) as never);
      }),
    ],
  });
  const faults = faultsOf(agent);
  await agent.ready();
  agent.append([
    { type: "custom", customType: "note" },
    { type: "custom", customType: "silent" },
  ]);
  await prompt(agent);
  expect(faults).toEqual([]);
  expect(script.requests[0]!.messages).toHaveLength(2);
  expect(() => mine.content.push({ type: "text", text: "b" })).toThrow(TypeError);
});

test("a projector gets a stored entry sealed", async () => {
  const seen: boolean[] = [];
  const reads = named("reads", (pi) => {
    pi.register("projector", "note", (entry) => {
      seen.push(entry.type === "custom" && Object.isFrozen(entry.data));
      return [said as Message];
    });
  });
  const note = { type: "custom" as const, customType: "note", data: { deep: [1] } };
  const entry = { ...note, id: "00000001", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };
  const agent = createAgent({ extensions: [scripted(), reads], entries: [entry] });
  await prompt(agent);
  expect(new Set(seen)).toEqual(new Set([true]));
});
