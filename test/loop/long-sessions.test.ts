import { getEventListeners } from "node:events";
import { createAgent, type ExtensionAPI } from "@pi-agent/kernel";
import { SCRIPTED_MODEL, scriptedProvider } from "@pi-agent/testing";
import { assistantMessage, toolCall } from "@pi-agent/testing/provider";
import { afterEach, beforeEach, expect, test } from "vitest";

const warnings: Error[] = [];
const onWarning = (warning: Error) => void warnings.push(warning);

beforeEach(() => {
  warnings.length = 0;
  process.on("warning", onWarning);
});
afterEach(() => {
  process.off("warning", onWarning);
});

const soak = process.env.SOAK ? 5 : 1;

/** A tool that listens to its signal while it works and takes its listener back, as a well-behaved one does. */
function worker(pi: ExtensionAPI): void {
  pi.registerTool({
    name: "work",
    description: "work",
    parameters: { type: "object", properties: {} } as never,
    async execute(_id, _args, signal) {
      const stop = () => {};
      signal.addEventListener("abort", stop);
      await Promise.resolve();
      signal.removeEventListener("abort", stop);
      return { content: [{ type: "text", text: "ok" }] };
    },
  });
}

/** A provider that costs next to nothing a turn: that many turns of that many calls, then a word. */
function quickProvider(turns: number, count: number) {
  let turn = 0;
  return (pi: ExtensionAPI) => {
    pi.registerProvider({ id: "scripted", api: "scripted", models: [SCRIPTED_MODEL], env: [] });
    pi.register("api", "scripted", {
      async *stream({ model }) {
        const ids = Array.from({ length: turn++ < turns ? count : 0 }, (_, i) => `${turn}-${i}`);
        const message = assistantMessage(
          model,
          ids.length > 0 ? ids.map((id) => toolCall(id, { name: "work" })) : [{ type: "text", text: "Done." }],
        );
        yield [
          { type: "start", partial: message },
          { type: "done", reason: ids.length > 0 ? "toolUse" : "stop", message },
        ];
      },
    });
  };
}

const calls = (count: number) => ({ calls: Array.from({ length: count }, () => ({ name: "work", arguments: {} })) });
const processListeners = () => process.eventNames().map((name) => [String(name), process.listenerCount(name)]);

/** Lets warnings come out, which Node emits in a later tick. */
const aLittleLater = () => new Promise<void>((resolve) => setTimeout(resolve, 5));

test("F137: 500 turns of four tools in one run leave the number of listeners where it was, and warn of nothing", async () => {
  const turns = 500 * soak;
  const host = new AbortController();
  const agent = createAgent({ extensions: [quickProvider(turns, 4), worker], signal: host.signal });
  const before = processListeners();
  let most = 0;
  const watch = ({ signal }: { signal: AbortSignal | undefined }) => {
    if (signal) most = Math.max(most, getEventListeners(signal, "abort").length);
  };
  agent.on("turn_start", (_event, ctx) => watch(ctx));
  agent.on("turn_end", (_event, ctx) => watch(ctx));
  expect(await agent.run("go")).toMatchObject({ answer: "Done.", outcome: "done" });
  expect(most).toBeLessThanOrEqual(2);
  expect(getEventListeners(host.signal, "abort").length).toBeLessThanOrEqual(1);
  expect(processListeners()).toEqual(before);
  expect(agent.transcript.project()).toHaveLength(turns * 5 + 2);
  await agent.dispose();
  await aLittleLater();
  expect(warnings).toEqual([]);
});

test("F137 K4 K5: 200 parallel tools run side by side, answer in order, and warn of nothing", async () => {
  const agent = createAgent({ extensions: [scriptedProvider([calls(200), { text: "Done." }]), worker] });
  const { messages } = await agent.run("go");
  const asked = messages.flatMap((message) =>
    message.role === "assistant"
      ? message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []))
      : [],
  );
  const answered = messages.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : []));
  expect(asked).toHaveLength(200);
  expect(answered).toEqual(asked);
  await aLittleLater();
  // The 200 listeners are the tool's own, all on at once: Node may say so once, the kernel adds none.
  expect(warnings.filter(({ name }) => name !== "MaxListenersExceededWarning")).toEqual([]);
});

test("F137: 200 parallel tools that do not listen cause no warning at all", async () => {
  const deaf = (pi: ExtensionAPI) =>
    void pi.registerTool({
      name: "work",
      description: "work",
      parameters: { type: "object", properties: {} } as never,
      execute: async () => ({ content: [] }),
    });
  const slow = (pi: ExtensionAPI) => {
    pi.on("tool_call", async () => {});
    pi.on("tool_result", async () => {});
  };
  await createAgent({ extensions: [scriptedProvider([calls(200), { text: "Done." }]), deaf, slow] }).run("go");
  await aLittleLater();
  expect(warnings).toEqual([]);
});

test("F137: 1,000 prompts in one session, some of them aborted, leave listeners and timers where they were", async () => {
  const host = new AbortController();
  const agent = createAgent({ extensions: [quickProvider(0, 0), worker], signal: host.signal });
  await agent.ready();
  const before = processListeners();
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const timersBefore = timers();
  for (let i = 0; i < 1_000 * soak; i++) {
    await agent.input(`prompt ${i}`);
    if (i % 10 === 0) await agent.abort();
    await agent.settled();
  }
  expect(processListeners()).toEqual(before);
  expect(getEventListeners(host.signal, "abort").length).toBeLessThanOrEqual(1);
  expect(timers()).toBeLessThanOrEqual(timersBefore);
  await agent.dispose();
  await aLittleLater();
  expect(warnings).toEqual([]);
});

test("F137 E1: loading and unloading an extension 200 times leaves nothing of it", async () => {
  const agent = createAgent({ extensions: [scriptedProvider(() => ({ text: "Yes." }))] });
  await agent.ready();
  let heard = 0;
  const extension = (pi: ExtensionAPI) => {
    worker(pi);
    pi.on("turn_start", () => void heard++);
    pi.events.on("c", () => void heard++);
    pi.limitEffects({ ceiling: "execute", reason: "x" });
  };
  for (let i = 0; i < 200; i++) {
    await agent.extend([{ extension, owner: { name: "mine", scope: "user" } }]);
    if (i % 50 === 0) await agent.run("go");
    expect(await agent.unload("mine")).toEqual({ leaks: [] });
  }
  expect(heard).toBe(4);
  heard = 0;
  await agent.run("go");
  expect(heard).toBe(0);
  expect(agent.state.limits).toEqual([]);
  expect(agent.registry("tool").size).toBe(0);
});

test("F137: a hundred children of one run leave nothing listening on their parent", async () => {
  let signal: AbortSignal | undefined;
  const spawns = (pi: ExtensionAPI) =>
    void pi.registerTool({
      name: "work",
      description: "work",
      parameters: { type: "object", properties: {} } as never,
      async execute(_id, _args, _signal, _onUpdate, ctx) {
        signal = ctx.signal;
        for (let i = 0; i < 100; i++) {
          const child = ctx.createAgent({});
          await child.run("inner");
          await child.dispose();
        }
        return { content: [] };
      },
    });
  let turn = 0;
  const script = () => (turn++ === 0 ? calls(1) : { text: "Yes." });
  const agent = createAgent({ extensions: [scriptedProvider(script), spawns] });
  await agent.run("go");
  expect(getEventListeners(signal!, "abort")).toHaveLength(0);
  await aLittleLater();
  expect(warnings).toEqual([]);
});
