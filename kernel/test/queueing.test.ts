import { expect, test } from "vitest";
import { type Agent, createAgent, type ExtensionAPI, type Message } from "../src/index.ts";
import { handles, named, prompt } from "./named.ts";
import { calls, failure, gate, outline, record, scripted, text, tool } from "./scripted.ts";

const contentOf = ({ content }: { content: unknown }) =>
  typeof content === "string" ? content : JSON.stringify(content);
const contents = (messages: readonly Message[]) => messages.map(contentOf);
const users = (agent: Agent) => contents(agent.transcript.project().filter(({ role }) => role === "user"));

/** A run that waits in a tool until it is aborted or let go. */
function waiting(...more: Parameters<typeof scripted>) {
  const started = gate();
  const going = gate();
  const provider = scripted(calls(["1", "wait"]), ...more);
  const wait = tool("wait", (_args, signal) => {
    started.open();
    const aborted = new Promise((resolve) =>
      signal.addEventListener("abort", () => resolve("stopped"), { once: true }),
    );
    return Promise.race([aborted, going.promise.then(() => "went on")]);
  });
  return { started: started.promise, go: () => going.open(), provider, wait };
}

test("K10: abort returns what was queued and leaves the queue empty, and nothing of it is run", async () => {
  const { started, provider, wait } = waiting();
  const agent = createAgent({ extensions: [provider, wait] });
  await agent.input("go");
  await started;
  for (const each of ["s1", "s2"]) agent.steer(each);
  agent.followUp("f");
  const queue = await agent.abort();
  expect([contents(queue.steering), contents(queue.followUp)]).toEqual([["s1", "s2"], ["f"]]);
  expect(agent.queue).toEqual({ steering: [], followUp: [] });
  await agent.settled();
  expect(provider.requests).toHaveLength(1);
  expect(users(agent)).toEqual(["go"]);
});

test("K10: ctx.abort leaves the queue in place, and starts no run with it", async () => {
  const provider = scripted(calls(["1", "stop"]));
  const agent = createAgent({
    extensions: [
      provider,
      tool("stop", (_args, _signal, ctx) => {
        agent.steer("s");
        agent.followUp("f");
        ctx.abort();
        return "ok";
      }),
    ],
  });
  await prompt(agent);
  expect(provider.requests).toHaveLength(1);
  expect([contents(agent.queue.steering), contents(agent.queue.followUp)]).toEqual([["s"], ["f"]]);
  await prompt(agent, "next");
  expect(users(agent).slice(0, 2)).toEqual(["go", "next"]);
  expect(users(agent).toSorted()).toEqual(["f", "go", "next", "s"]);
});

test("K10: what is queued while an abort is under way is not lost", async () => {
  const { started, provider, wait } = waiting();
  const agent = createAgent({ extensions: [provider, wait] });
  await agent.input("go");
  await started;
  const aborting = agent.abort();
  agent.steer("meanwhile");
  const returned = await aborting;
  await agent.settled();
  const found = [...users(agent), ...contents(returned.steering), ...contents(agent.queue.steering)];
  expect(found.filter((each) => each === "meanwhile")).toHaveLength(1);
});

test("K10: clearQueue returns everything and tells it once", async () => {
  const { started, go, provider, wait } = waiting();
  const agent = createAgent({ extensions: [provider, wait] });
  const updates: number[] = [];
  agent.on("queue_update", ({ steering, followUp }) => void updates.push(steering.length + followUp.length));
  await agent.input("go");
  await started;
  agent.steer("s");
  agent.followUp("f");
  const queue = agent.clearQueue();
  expect([contents(queue.steering), contents(queue.followUp)]).toEqual([["s"], ["f"]]);
  expect(agent.clearQueue()).toEqual({ steering: [], followUp: [] });
  go();
  await agent.settled();
  expect(updates).toEqual([1, 2, 0]);
  expect(users(agent)).toEqual(["go"]);
});

test("K10: follow-ups enter one at a time, or all together", async () => {
  for (const [followUpMode, turns] of [
    ["one-at-a-time", 4],
    ["all", 3],
  ] as const) {
    const provider = scripted(calls(["1", "a"]));
    const agent = createAgent({
      followUpMode,
      extensions: [provider, tool("a", () => (agent.followUp("x"), agent.followUp("y"), "ok"))],
    });
    await prompt(agent);
    expect(provider.requests).toHaveLength(turns);
    expect(users(agent)).toEqual(["go", "x", "y"]);
  }
});

test("K10: follow-ups wait for all steering, and steering for all results of the batch", async () => {
  const slow = gate();
  const provider = scripted(calls(["1", "slow"], ["2", "quick"]), calls(["3", "quick"]));
  const agent = createAgent({
    extensions: [
      provider,
      tool("slow", () => slow.promise.then(() => "s")),
      tool("quick", () => {
        if (agent.queue.followUp.length === 0) agent.followUp("f");
        agent.steer(`s${provider.requests.length}`);
        slow.open();
        return "q";
      }),
    ],
  });
  await prompt(agent);
  const roles = agent.transcript.project().map(({ role, content }) => (role === "user" ? content : role));
  expect(roles).toEqual([
    "go",
    "assistant",
    "toolResult",
    "toolResult",
    "s1",
    "assistant",
    "toolResult",
    "s2",
    "assistant",
    "f",
    "assistant",
  ]);
});

test.each(["message_end", "turn_end", "agent_end", "agent_before_settle", "agent_settled"] as const)(
  "K10 F134: a message that is steered from the last %s is answered once",
  async (hook) => {
    const provider = scripted();
    let isSaid = false;
    const agent = createAgent({ extensions: [provider] });
    agent.on(hook, ((event: { message?: Message }) => {
      if (isSaid || (event.message && event.message.role !== "assistant")) return;
      isSaid = true;
      agent.steer("late");
    }) as never);
    const events = record(agent);
    await prompt(agent);
    expect(users(agent)).toEqual(["go", "late"]);
    expect(provider.requests).toHaveLength(2);
    expect(agent.transcript.project().at(-1)?.role).toBe("assistant");
    expect(outline(events).at(-1)).toBe("agent_settled");
  },
);

test("K10 F134: a message that is steered while a retry waits enters with the retry", async () => {
  const provider = scripted(failure("overloaded"), text("fine"));
  const retry = handles("retry", "provider_error", () => ({ retry: { delayMs: 5, reason: "busy" } }));
  const agent = createAgent({ extensions: [provider, retry] });
  agent.on("auto_retry_start", () => agent.steer("s"));
  await prompt(agent);
  expect(provider.requests.map(({ messages }) => contents(messages))).toEqual([["go"], ["go", "s"]]);
});

test("K10 F134: what is queued when a run fails is still there, or answered by the next run", async () => {
  const provider = scripted(calls(["1", "a"]), failure("invalid_request"));
  const agent = createAgent({ extensions: [provider, tool("a", () => (agent.followUp("f"), "ok"))] });
  await prompt(agent);
  const found = [...users(agent), ...contents(agent.queue.followUp)];
  expect(found.filter((each) => each === "f")).toHaveLength(1);
});

test("K10: a queued message is stored before it is sent", async () => {
  const order: string[] = [];
  const store = named("store", (pi) => {
    pi.on("transcript_append", ({ entry }) => {
      if (entry.type === "message" && entry.message.role === "user") order.push(`stored ${contentOf(entry.message)}`);
    });
    pi.on("transcript_flush", ({ reason }) => void (reason === "turn" && order.push("flushed")));
  });
  const provider = scripted(
    () => calls(["1", "a"]),
    ({ messages }) => (order.push(`sent ${contentOf(messages.at(-1)!)}`), text("ok")),
  );
  const agent = createAgent({ extensions: [store, provider, tool("a", () => (agent.steer("s"), "ok"))] });
  await prompt(agent);
  expect(order).toEqual(["stored go", "flushed", "stored s", "flushed", "sent s"]);
});

test("K10: extensions send messages now, later, or with the next prompt", async () => {
  let api: ExtensionAPI | undefined;
  const provider = scripted();
  const sender = named("sender", (pi) => void (api = pi));
  const agent = createAgent({ extensions: [provider, sender] });
  await agent.ready();
  const note = (content: string) => ({ customType: "note", content, display: false });
  api!.sendMessage(note("kept"));
  await agent.settled();
  expect(provider.requests).toHaveLength(0);
  api!.sendMessage(note("next"), { deliverAs: "nextTurn" });
  await agent.settled();
  expect(provider.requests).toHaveLength(0);
  await prompt(agent);
  expect(contents(provider.requests[0]!.messages)).toEqual(["kept", "go", "next"]);
  api!.sendMessage(note("now"), { triggerTurn: true });
  await agent.settled();
  expect(contents(provider.requests[1]!.messages).at(-1)).toBe("now");
  api!.sendUserMessage("said");
  await agent.settled();
  expect(contents(provider.requests[2]!.messages).at(-1)).toBe("said");
});

test("K10: a message of a wrong shape is refused at once, and nothing is queued", async () => {
  const agent = createAgent({ extensions: [scripted()] });
  await agent.ready();
  expect(() => agent.steer({ role: "user" } as never)).toThrow(expect.objectContaining({ code: "invalid_entry" }));
  expect(() => agent.followUp({ role: "user", content: 7 } as never)).toThrow(/cannot be stored/);
  expect(agent.queue).toEqual({ steering: [], followUp: [] });
});

test("K10: whether something waits is seen in every context", async () => {
  const seen: boolean[] = [];
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "a"])),
      tool("a", (_args, _signal, ctx) => {
        seen.push(ctx.hasPendingMessages());
        agent.steer("s");
        seen.push(ctx.hasPendingMessages());
        return "ok";
      }),
    ],
  });
  await prompt(agent);
  expect(seen).toEqual([false, true]);
});

test("K10: a host cannot change the queue through what it is shown", async () => {
  const { started, go, provider, wait } = waiting();
  const agent = createAgent({ extensions: [provider, wait] });
  await agent.input("go");
  await started;
  agent.steer("s");
  agent.queue.steering.length = 0;
  go();
  await agent.settled();
  expect(users(agent)).toEqual(["go", "s"]);
});
