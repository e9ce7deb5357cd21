import { expect, test } from "vitest";
import { type Agent, type AgentOptions, type Context, createAgent } from "../src/index.ts";
import { faultsOf, handles, named, prompt } from "./named.ts";
import { gate, scripted, text } from "./scripted.ts";

/** An extension whose command `/work` does exclusive work. */
function works(fn: (ctx: Context) => Promise<unknown>) {
  return named("works", (pi) => {
    pi.registerCommand("work", {
      handler: (_args, ctx) => ctx.exclusive("compacting", () => fn(ctx)) as Promise<void>,
    });
  });
}

/** An agent that is ready. */
async function readyAgent(options: AgentOptions = {}): Promise<Agent> {
  const agent = createAgent(options);
  await agent.ready();
  return agent;
}

async function awaitTimes(times: number): Promise<void> {
  for (let i = 0; i < times; i++) await Promise.resolve();
}

test.each([0, 1])("X1: exclusive work within exclusive work runs at once, %i awaits into it", async (awaits) => {
  const agent = await readyAgent();
  const steps: string[] = [];
  await agent.exclusive("compacting", async () => {
    for (let i = 0; i < awaits; i++) await Promise.resolve();
    await agent.exclusive("summarizing", async () => void steps.push("inner"));
    steps.push("outer");
  });
  expect(steps).toEqual(["inner", "outer"]);
  expect(agent.state.activity).toBe("idle");
});

test("X1: a handler's ctx.exclusive runs within the host's, whose dispatch it answers", async () => {
  const steps: string[] = [];
  const starts = handles("starts", "session_start", async (_event: never, ctx: Context) => {
    await Promise.resolve();
    await ctx.exclusive("summarizing", async () => void steps.push("inner"));
  });
  const agent = await readyAgent({ extensions: [starts] });
  const faults = faultsOf(agent);
  await agent.exclusive("starting", async () => {
    await agent.dispatch("session_start", { reason: "reload" });
    steps.push(`outer ${agent.state.activity}`);
  });
  expect([...steps, ...faults]).toEqual(["inner", "outer starting"]);
});

test("X2: exclusive works never overlap, whenever the next one is asked for", async () => {
  const agent = await readyAgent();
  let live = 0;
  const most: number[] = [];
  const job = async () => {
    most.push(++live);
    await awaitTimes(5);
    live--;
  };
  const first = agent.exclusive("compacting", job);
  const later = (ticks: number) => first.then(() => awaitTimes(ticks)).then(() => agent.exclusive("summarizing", job));
  await Promise.all([agent.exclusive("compacting", job), ...Array.from({ length: 12 }, (_, ticks) => later(ticks))]);
  expect(most).toEqual(Array.from({ length: 14 }, () => 1));
});

test("X2: what exclusive work leaves floating is not part of it once it is over", async () => {
  const agent = await readyAgent();
  const isOver = gate();
  const blocked = gate();
  const steps: string[] = [];
  const step = (name: string) => async () => void steps.push(name);
  const inside = () => isOver.promise.then(() => agent.exclusive("summarizing", step("floating")));
  const [floating] = await agent.exclusive("compacting", async () => [inside()]);
  const second = agent.exclusive("compacting", () => blocked.promise.then(step("second")));
  isOver.open();
  await new Promise(setImmediate);
  blocked.open();
  await Promise.all([second, floating]);
  expect(steps).toEqual(["second", "floating"]);
});

test("X3: no prompt starts between exclusive works that wait", async () => {
  const agent = await readyAgent({ extensions: [scripted(text("x"))] });
  const seen: string[] = [];
  agent.on("agent_start", () => void seen.push("run"));
  const work = (name: string) => async () => {
    await new Promise(setImmediate);
    seen.push(name);
  };
  const both = [agent.exclusive("compacting", work("first")), agent.exclusive("summarizing", work("second"))];
  expect(await agent.input("go")).toBe("queued");
  await Promise.all(both);
  await agent.settled();
  expect(seen).toEqual(["first", "second", "run"]);
});

test("X3: the activity is never idle between exclusive works that wait", async () => {
  const agent = await readyAgent();
  const both = [
    agent.exclusive("compacting", () => awaitTimes(5)),
    agent.exclusive("summarizing", () => awaitTimes(5)),
  ];
  const seen: string[] = [];
  for (; seen.at(-1) !== "idle"; await Promise.resolve())
    if (seen.at(-1) !== agent.state.activity) seen.push(agent.state.activity);
  await Promise.all(both);
  expect(seen).toEqual(["compacting", "summarizing", "idle"]);
});

test.each(["run", "continue"] as const)("X4: %s is refused as busy during exclusive work", async (method) => {
  const provider = scripted(text("x"));
  const agent = await readyAgent({ extensions: [provider] });
  agent.append([{ type: "message", message: { role: "user", content: "q", timestamp: 1 } }]);
  const free = gate();
  const work = agent.exclusive("compacting", () => free.promise);
  await expect(agent[method]("q")).rejects.toMatchObject({ code: "busy" });
  expect(provider.requests).toHaveLength(0);
  free.open();
  await work;
});

test("X5: exclusive work whose extension is unloaded is released as abandoned, and prompts go on", async () => {
  const started = gate();
  const agent = createAgent({
    extensions: [scripted(text("x")), works(() => (started.open(), new Promise(() => {})))],
  });
  const faults = faultsOf(agent);
  void agent.input("/work");
  await started.promise;
  expect(agent.state.activity).toBe("compacting");
  await agent.unload("works");
  await prompt(agent);
  expect(faults).toEqual(["works command:work abandoned"]);
  expect(agent.state.activity).toBe("idle");
  expect(agent.transcript.project().at(-1)?.role).toBe("assistant");
});

test("X5: exclusive work that does not obey an abort is released after the grace period", async () => {
  const started = gate();
  const hangs = works(() => (started.open(), new Promise(() => {})));
  const agent = createAgent({ extensions: [scripted(text("x")), hangs], graceMs: 5 });
  const faults = faultsOf(agent);
  const command = agent.input("/work");
  await started.promise;
  await agent.abort();
  expect(agent.state.activity).toBe("compacting");
  await command;
  expect(faults).toEqual(["works command:work abandoned"]);
  expect(await agent.input("go")).toBe("started");
  await agent.settled();
});

test("X5: an abort does not release the host's own exclusive work", async () => {
  const agent = await readyAgent({ graceMs: 1 });
  const free = gate<string>();
  const work = agent.exclusive("compacting", () => free.promise);
  await agent.abort();
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(agent.state.activity).toBe("compacting");
  free.open("whole");
  expect(await work).toBe("whole");
});

test("X5: exclusive work gets a signal, which an abort fires at once, also through ctx.signal and for the host's", async () => {
  const started = gate();
  const seen: unknown[] = [];
  const extension = works(async (ctx) => {
    await ctx.exclusive("summarizing", async (signal) => {
      seen.push(signal === ctx.signal);
      started.open();
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    });
    seen.push(ctx.signal?.reason instanceof Error && ctx.signal.reason.message);
  });
  const agent = await readyAgent({ extensions: [extension] });
  const working = agent.input("/work");
  await started.promise;
  await agent.abort("enough");
  await working;
  expect(seen).toEqual([true, "enough"]);
  await agent.exclusive("starting", async (signal) => {
    await agent.abort("again");
    seen.push(signal.aborted);
  });
  expect(seen.at(-1)).toBe(true);
  expect(agent.state.activity).toBe("idle");
});

test("X6: exclusive work by pi.context is its extension's, whoever calls the service that does it", async () => {
  let service: (() => Promise<void>) | undefined;
  const started = gate();
  const provides = named("provides", (pi) => {
    service = () =>
      pi.context.exclusive("summarizing", async () => {
        started.open();
        await new Promise(() => {});
      });
  });
  const calls = named("calls", (pi) => void pi.registerCommand("go", { handler: () => service!() }));
  const agent = await readyAgent({ extensions: [provides, calls], graceMs: 5 });
  const going = agent.input("/go").catch((thrown: unknown) => thrown);
  await started.promise;
  await agent.unload("provides");
  await going;
  expect(agent.state.activity).toBe("idle");
});
