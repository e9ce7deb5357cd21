import { createAgent, type Extension, type Message } from "@pi-agent/kernel";
import { assertValidForStrictProvider, fakeClock, type Script, scriptedProvider } from "@pi-agent/testing";
import { WIRE_PROVIDERS } from "@pi-agent/testing/wire";
import { expect, test } from "vitest";
import { look, prompt, startWireAgent } from "./wire-agent.ts";

const SCRIPT: Script = [
  {
    thinking: "Two views.",
    text: "I look twice.",
    calls: [
      { name: "look", arguments: { what: "the sea" } },
      { name: "look", arguments: { what: "picture" } },
    ],
  },
  { thinking: "One more.", calls: [{ name: "look", arguments: { what: "nothing" } }] },
  { text: "That is all." },
  { calls: [{ name: "look", arguments: { what: "the sky" } }] },
  { text: "And that." },
  { text: "Still here." },
];

const SYSTEM = { role: "system", content: "Be rude.", timestamp: 0 } as unknown as Message;

/** What a hook may do to a conversation, and how often its owner is told of it in three requests. */
const HOOKS: Record<string, { hook: (messages: Message[]) => unknown; faults: 0 | 2 | 3 }> = {
  "removes all results": {
    hook: (list) => ({ messages: list.filter(({ role }) => role !== "toolResult") }),
    faults: 0,
  },
  "removes all answers": { hook: (list) => ({ messages: list.filter(({ role }) => role !== "assistant") }), faults: 0 },
  "removes the user": { hook: (list) => ({ messages: list.filter(({ role }) => role !== "user") }), faults: 2 },
  "keeps one half of each pair": { hook: (list) => ({ messages: list.filter((_, at) => at % 2 === 0) }), faults: 2 },
  "reverses the list": { hook: (list) => ({ messages: list.toReversed() }), faults: 0 },
  "says everything twice": { hook: (list) => ({ messages: list.flatMap((each) => [each, each]) }), faults: 3 },
  "keeps the answers only": {
    hook: (list) => ({ messages: list.filter(({ role }) => role === "assistant") }),
    faults: 2,
  },
  "answers undefined": { hook: () => undefined, faults: 0 },
  "answers null": { hook: () => null, faults: 0 },
  "answers []": { hook: () => [], faults: 0 },
  "answers no messages": { hook: () => ({ messages: [] }), faults: 3 },
  "answers messages of null": { hook: () => ({ messages: null }), faults: 3 },
  "answers a message of null": { hook: (list) => ({ messages: [...list, null] }), faults: 3 },
  "answers a message without content": { hook: (list) => ({ messages: [...list, { role: "user" }] }), faults: 3 },
  "adds a message of the system": { hook: (list) => ({ messages: list.toSpliced(1, 0, SYSTEM) }), faults: 3 },
  "adds one in place": { hook: (list) => void list.splice(1, 0, SYSTEM), faults: 3 },
  "empties the list in place": { hook: (list) => void list.splice(0), faults: 3 },
  "puts null in place": { hook: (list) => void list.push(null as never), faults: 3 },
  "cuts the list in place": { hook: (list) => void list.splice(1, 2), faults: 0 },
  "changes messages in place": { hook: (list) => void Object.assign(list[0]!, { content: "Changed." }), faults: 3 },
  throws: {
    hook: () => {
      throw new Error("broken");
    },
    faults: 3,
  },
};

for (const wire of WIRE_PROVIDERS) {
  test.for(Object.keys(HOOKS))(`${wire}: F101 a context hook that %s leaves requests that are taken`, async (name) => {
    const { hook, faults: expected } = HOOKS[name]!;
    let isOn = false;
    const broken: Extension = (pi) =>
      void pi.on("context", ({ messages }) => (isOn ? (hook(messages) as never) : undefined));
    await using it = await startWireAgent({ wire, script: SCRIPT, extensions: [look, broken] });
    await prompt(it.agent, "What do you see?");
    const before = JSON.stringify(it.agent.transcript.path());
    isOn = true;
    await prompt(it.agent, "And there?");
    await prompt(it.agent, "Hello?");
    expect(it.server.refusals()).toEqual([]);
    expect(it.server.requests).toHaveLength(6);
    expect(JSON.stringify(it.agent.transcript.path()).startsWith(before.slice(0, -1))).toBe(true);
    expect(it.faults.length).toBe(expected);
    const owner = it.agent.extensions.at(-1)!.owner.name;
    for (const fault of it.faults) expect(fault.startsWith(owner)).toBe(true);
  });
}

test("F101 a context hook that takes longer than 30 s is given up and named, and everything is sent", async () => {
  using clock = fakeClock();
  const provider = scriptedProvider([{ text: "Here." }]);
  const slow: Extension = (pi) => void pi.on("context", () => new Promise<never>(() => {}));
  const agent = createAgent({ extensions: [provider, slow] });
  const faults: string[] = [];
  agent.on("fault", ({ owner, error }) => void faults.push(`${owner} ${error.code}`));
  await agent.ready();
  const running = agent.run("Go.");
  await clock.advance(29_000);
  expect(provider.requests).toEqual([]);
  await clock.advance(2_000);
  expect((await running).answer).toBe("Here.");
  expect(faults).toEqual([`${agent.extensions[1]!.owner.name} hook_late`]);
  assertValidForStrictProvider(provider.requests[0]!.messages.slice(0, 1));
  await agent.dispose();
});
