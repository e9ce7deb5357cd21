import { expect, test } from "vitest";
import { type Context, createAgent, type ExtensionEntry, type HookEvent } from "../src/index.ts";
import { faultsOf, handles, named, prompt } from "./named.ts";
import { calls, failure, resultTexts, scripted, text, tool } from "./scripted.ts";

/** An entry for the model to answer, without which a run cannot go on from its last word. */
const NUDGE = { type: "custom_message", customType: "nudge", content: "go on", display: false };

test("K2: agent_before_settle continues a run that is done, and none that failed, was aborted or was stopped", async () => {
  const goOn = handles("goOn", "agent_before_settle", () => ({ entries: [NUDGE], continue: true }));
  const ends: [outcome: string, ends: ExtensionEntry][] = [
    ["error", named("fails", () => {})],
    ["stopped", handles("stops", "turn_end", () => ({ stop: true }))],
    ["aborted", handles("aborts", "turn_end", (_event: never, ctx: Context) => ctx.abort())],
  ];
  for (const [outcome, end] of ends) {
    const provider = scripted(outcome === "error" ? failure("server") : text("one"));
    expect((await createAgent({ extensions: [provider, end, goOn] }).run("go")).outcome).toBe(outcome);
    expect(provider.requests).toHaveLength(1);
  }
});

test("K8: a hook that says terminate, or takes it back, counts like the tool", async () => {
  const provider = scripted(calls(["1", "a"], ["2", "a"]));
  const ends = handles("ends", "tool_result", () => ({ terminate: true }));
  await createAgent({ extensions: [provider, tool("a"), ends] }).run("go");
  expect(provider.requests).toHaveLength(1);
  const kept = scripted(calls(["1", "stop"]));
  const goesOn = handles("goesOn", "tool_result", () => ({ terminate: false }));
  await createAgent({ extensions: [kept, tool("stop", () => ({ content: [], terminate: true })), goesOn] }).run("go");
  expect(kept.requests).toHaveLength(2);
});

test("K8: a refusal may end the run, and a failed call in the batch does not", async () => {
  const refused = scripted(calls(["1", "a"]));
  const ends = handles("ends", "tool_call", () => ({ block: true, reason: "no", terminate: true }));
  await createAgent({ extensions: [refused, tool("a"), ends] }).run("go");
  expect(refused.requests).toHaveLength(1);
  const mixed = scripted(calls(["1", "stop"], ["2", "ghost"]));
  await createAgent({ extensions: [mixed, tool("stop", () => ({ content: [], terminate: true }))] }).run("go");
  expect(mixed.requests).toHaveLength(2);
});

test("K8: a queued message still enters after a batch that ends the run", async () => {
  const provider = scripted(calls(["1", "stop"]));
  const agent = createAgent({
    extensions: [provider, tool("stop", () => (agent.steer("but"), { content: [], terminate: true }))],
  });
  await prompt(agent);
  expect(provider.requests.at(-1)?.messages.at(-1)?.content).toBe("but");
});

test("K11: maxTurns counts the turns of a run, also those that agent_before_settle adds", async () => {
  const provider = scripted();
  const goOn = handles("goOn", "agent_before_settle", () => ({
    entries: [NUDGE],
    continue: provider.requests.length < 9,
  }));
  const agent = createAgent({ maxTurns: 3, extensions: [provider, goOn] });
  const { outcome } = await agent.run("go");
  expect(provider.requests).toHaveLength(3);
  expect(outcome).toBe("max_turns");
});

test("K11: maxTurns counts failed attempts and turns that turn_end adds", async () => {
  const failing = scripted(...Array.from({ length: 9 }, () => failure("server")));
  const retry = handles("retry", "provider_error", () => ({ retry: { delayMs: 0, reason: "busy" } }));
  expect((await createAgent({ maxTurns: 4, extensions: [failing, retry] }).run("go")).outcome).toBe("max_turns");
  expect(failing.requests).toHaveLength(4);
  const added = scripted();
  const goOn = handles("goOn", "turn_end", () => ({ entries: [NUDGE], continue: added.requests.length < 9 }));
  expect((await createAgent({ maxTurns: 2, extensions: [added, goOn] }).run("go")).outcome).toBe("max_turns");
  expect(added.requests).toHaveLength(2);
});

test("K11: there is no limit of turns unless somebody asks for one", async () => {
  const provider = scripted(...Array.from({ length: 120 }, (_, i) => calls([String(i), "a"])));
  expect((await createAgent({ extensions: [provider, tool("a")] }).run("go")).outcome).toBe("done");
  expect(provider.requests).toHaveLength(121);
});

test("K11: a turn_end that stops wins over one that continues", async () => {
  for (const order of [0, 1]) {
    const provider = scripted(calls(["1", "a"]));
    const hooks = [
      handles("stops", "turn_end", () => ({ stop: true })),
      handles("goesOn", "turn_end", () => ({ entries: [NUDGE], continue: true })),
    ];
    const agent = createAgent({ extensions: [provider, tool("a"), ...(order ? hooks.toReversed() : hooks)] });
    expect((await agent.run("go")).outcome).toBe("stopped");
    expect(provider.requests).toHaveLength(1);
    // Its calls have their results all the same.
    expect(resultTexts(agent)).toHaveProperty("1");
  }
});

test("K11 reference 4.7.1: going on from the model's own last word is reported, and the run ends", async () => {
  for (const hook of ["turn_end", "agent_before_settle"] as const) {
    const provider = scripted();
    const agent = createAgent({ extensions: [provider, handles("goOn", hook, () => ({ continue: true }))] });
    const faults = faultsOf(agent);
    expect((await agent.run("go")).outcome).toBe("done");
    expect(provider.requests).toHaveLength(1);
    expect(faults).toEqual([`goOn ${hook} cannot_continue`]);
  }
});

test("K11 reference 4.7.1: a boundary's handlers see what those before them propose, and what the model would be sent", async () => {
  const seen: unknown[] = [];
  const first = handles("first", "turn_end", () => ({ entries: [NUDGE], continue: true }));
  const second = handles("second", "turn_end", (event: HookEvent<"turn_end">) => {
    const { messages, canContinue } = event.context;
    seen.push([event.outcome, event.entries.length, event.continue, messages.at(-1)?.content, canContinue]);
    return { continue: false };
  });
  const provider = scripted();
  await createAgent({ extensions: [provider, first, second] }).run("go");
  expect(seen).toEqual([["done", 1, true, "go on", true]]);
  expect(provider.requests).toHaveLength(1);
});

test("K11: turn_end tells what the turn was, and what it drafts is in the next request", async () => {
  const provider = scripted(calls(["1", "a"]));
  const seen: unknown[] = [];
  const noting = handles(
    "noting",
    "turn_end",
    (event: {
      turnIndex: number;
      messageEntryId: string;
      toolResultEntryIds: string[];
      toolResults: { toolCallId: string }[];
      outcome: string;
    }) => {
      seen.push([event.turnIndex, event.toolResults.map(({ toolCallId }) => toolCallId)]);
      expect(agent.transcript.get(event.messageEntryId)).toMatchObject({ message: { role: "assistant" } });
      for (const id of event.toolResultEntryIds)
        expect(agent.transcript.get(id)).toMatchObject({ message: { role: "toolResult" } });
      if (event.turnIndex > 0) return;
      return { entries: [{ type: "custom_message", customType: "note", content: "noted", display: false }] };
    },
  );
  const agent = createAgent({ extensions: [provider, tool("a"), noting] });
  await agent.run("go");
  expect(seen).toEqual([
    [0, ["1"]],
    [1, []],
  ]);
  expect(provider.requests[1]?.messages.at(-1)).toMatchObject({ role: "custom", content: "noted" });
});
