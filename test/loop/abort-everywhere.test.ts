import { getEventListeners } from "node:events";
import { type Agent, createAgent, type ExtensionAPI, type HookName } from "@pi-agent/kernel";
import { assertEventOrder, assertValidForStrictProvider, recordEvents, scriptedProvider } from "@pi-agent/testing";
import { expect, test } from "vitest";

const SCRIPT = [
  { fail: { status: 529 } },
  { thinking: "Two at once.", text: "Reading.", calls: [call("quick"), call("slow"), call("ghost")] },
  { calls: [call("alone"), call("quick")] },
  { text: "Done." },
];

function call(name: string) {
  return { name, arguments: {} };
}

const HOOKS: HookName[] = [
  ...(["before_agent_start", "before_turn", "context", "message_end", "tool_call", "tool_result"] as const),
  ...(["turn_end", "agent_before_settle", "provider_error", "transcript_append", "transcript_flush"] as const),
];

/** Tools that obey the signal, one of which forces its batch to run in order, and everything else that a run waits in. */
function workshop(pi: ExtensionAPI, moment: (where: string) => void): void {
  const parameters = { type: "object", properties: {} } as never;
  const pause = (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
    });
  for (const [name, ms] of [
    ["quick", 0],
    ["slow", 3],
    ["alone", 1],
  ] as const) {
    pi.registerTool({
      name,
      description: name,
      parameters,
      executionMode: name === "alone" ? "sequential" : "parallel",
      async execute(_id, _args, signal, onUpdate) {
        onUpdate({ content: [] });
        moment(`in ${name}`);
        await pause(ms, signal);
        return { content: [{ type: "text", text: signal.aborted ? "stopped" : "done" }] };
      },
    });
  }
  for (const hook of HOOKS) {
    pi.on(hook, (async () => {
      moment(hook);
      await Promise.resolve();
      moment(`after ${hook}`);
      return hook === "provider_error" ? { retry: { delayMs: 1, reason: "busy" } } : undefined;
    }) as never);
  }
  pi.register("section", "s", {
    slot: "rules",
    text: async () => {
      moment("a section");
      await Promise.resolve();
      return "S";
    },
  });
  pi.on("provider_call", async function* (request, next) {
    moment("provider_call");
    for await (const events of next(request)) {
      moment("provider_call's stream");
      yield events;
    }
  });
  pi.registerCommand("tidy", {
    handler: (_args, ctx) => ctx.exclusive("compacting", () => new Promise((resolve) => setTimeout(resolve, 1))),
  });
  pi.on("auto_retry_start", () => void setTimeout(() => moment("the retry's wait"), 0));
}

type Deed = "abort" | "abort twice" | "ctx.abort" | "dispose" | "exclusive and abort";

/** Runs the script, does the deed in the moment of that number, and answers how many moments there were. */
async function runAndDo(after: number, deed: Deed): Promise<number> {
  let count = 0;
  let work: Promise<unknown> | undefined;
  const moment = () => {
    count += 1;
    if (count === after) work = DEEDS[deed](agent, () => pi!);
  };
  let pi: ExtensionAPI | undefined;
  const resolve = async () => {
    moment();
    await Promise.resolve();
    return {};
  };
  const agent = createAgent({
    extensions: [scriptedProvider(SCRIPT), (api: ExtensionAPI) => workshop((pi = api), moment)],
    host: { credentials: { names: () => [], resolve } },
    graceMs: 500,
  });
  await agent.ready();
  let signal: AbortSignal | undefined;
  agent.on("agent_start", (_event, ctx) => {
    signal = ctx.signal;
  });
  const recorded = recordEvents(agent, { all: true });
  agent.onWire(moment);
  const accepted = await agent.input("go").catch((thrown: { code: string }) => thrown.code);
  await agent.settled();
  await work;
  await agent.settled();
  const where = `${deed} in moment ${after}`;
  expect(["started", "aborted", "disposed"], where).toContain(accepted);
  assertEventOrder(recorded.events);
  assertValidForStrictProvider(agent.transcript.project());
  expect(agent.state, where).toMatchObject({ activity: "idle", runId: undefined });
  const settled = recorded.events.filter(({ type }) => type === "agent_settled");
  const started = new Set(recorded.events.filter(({ type }) => type === "agent_start").map(({ runId }) => runId));
  expect(settled.length, where).toBeGreaterThanOrEqual(started.size);
  if (signal) expect(getEventListeners(signal, "abort").length, `${where}: listeners left`).toBe(0);
  await agent.dispose();
  return count;
}

const DEEDS: Record<Deed, (agent: Agent, pi: () => ExtensionAPI) => Promise<unknown>> = {
  abort: (agent) => agent.abort(),
  "abort twice": (agent) => Promise.all([agent.abort(), agent.abort()]),
  async "ctx.abort"(agent) {
    const undo = agent.on("queue_update", (_event, ctx) => ctx.abort());
    agent.steer("x");
    await undo();
    agent.clearQueue();
  },
  dispose: (agent) => agent.dispose(),
  async "exclusive and abort"(agent) {
    await agent.input("/tidy");
    await agent.abort();
  },
};

test.each(Object.keys(DEEDS) as Deed[])(
  "K9 F133: %s in moment n, for every n of a run with a retry, sections, credentials, wrapped calls and all hooks, settles in order with a valid transcript",
  async (deed) => {
    const total = await runAndDo(0, deed);
    expect(total).toBeGreaterThan(100);
    const step = process.env.SOAK || deed === "abort" ? 1 : 3;
    for (let after = 1; after <= total; after += step) await runAndDo(after, deed);
  },
);
