import { expect, test } from "vitest";
import { type Agent, type Context, createAgent, type ExtensionAPI } from "../src/index.ts";
import { named, prompt } from "./named.ts";
import { calls, gate, scripted, text, tool } from "./scripted.ts";

/** A parent whose tool makes a child, and waits until it is told to go on. */
function family(more: { child?: Parameters<Context["createAgent"]>[0] } = {}) {
  const made = Promise.withResolvers<Agent>();
  const going = gate();
  let pi: ExtensionAPI | undefined;
  const parent = named("parent's own", (api) => {
    pi = api;
    tool(
      "child",
      async (_args, _signal, ctx) => {
        const child = ctx.createAgent({
          extensions: [tool("write", () => "wrote", { effect: "write" })],
          ...more.child,
        });
        await child.ready();
        made.resolve(child);
        await going.promise;
        return "ok";
      },
      { effect: "read" },
    )(api);
  });
  let turn = 0;
  const provider = scripted(
    ...Array.from(
      { length: 20 },
      () => () => (turn++ === 0 ? calls(["1", "child"]) : turn % 2 ? text("done") : calls(["w", "write"])),
    ),
  );
  const agent = createAgent({ extensions: [provider, parent] });
  return { agent, made: made.promise, go: () => going.open(), pi: () => pi!, provider };
}

async function writes(child: Agent): Promise<boolean> {
  const { messages } = await child.run("write");
  return JSON.stringify(messages).includes("wrote");
}

test("E8 F043: a limit that is set on the parent after the child was made holds in the child, and lifting it lifts it there", async () => {
  const { agent, made, go, pi } = family();
  await agent.input("go");
  const child = await made;
  expect(await writes(child)).toBe(true);
  const undo = pi().limitEffects({ ceiling: "read", reason: "plan mode" });
  expect(await writes(child)).toBe(false);
  expect(child.state.limits).toHaveLength(1);
  await undo();
  expect(await writes(child)).toBe(true);
  go();
  await agent.settled();
});

test("E8: nothing that a child can do lifts its parent's limits, and its own do not bind the parent", async () => {
  const { agent, made, go, pi } = family();
  await agent.ready();
  pi().limitEffects({ ceiling: "read", reason: "plan mode" });
  await agent.input("go");
  const child = await made;
  for (const { owner } of child.extensions) await child.unload(owner.name);
  await child.extend(
    [
      named("child's", (api) => {
        tool("write", () => "wrote", { effect: "write" })(api);
        api.limitEffects({ ceiling: "execute", reason: "mine", classify: () => "read" });
      }),
      scripted(calls(["w", "write"])) as never,
    ].map((each) => (typeof each === "function" ? named("provider", each as never) : each)),
  );
  expect(await writes(child)).toBe(false);
  expect(agent.state.limits).toHaveLength(1);
  go();
  await agent.settled();
});

test("E8: a grandchild keeps the limits of all above it", async () => {
  const { agent, made, go, pi } = family();
  await agent.input("go");
  const child = await made;
  let grandchild: Agent | undefined;
  await child.extend([
    named("makes", (api) => {
      api.registerCommand("make", {
        handler: (_args, ctx) => {
          grandchild = ctx.createAgent({ extensions: [tool("write", () => "wrote", { effect: "write" })] });
        },
      });
    }),
  ]);
  await child.input("/make");
  pi().limitEffects({ ceiling: "read", reason: "plan mode" });
  expect(await writes(grandchild!)).toBe(false);
  go();
  await agent.settled();
});

test("E8: a child has its parent's providers, and brings its own where it wants", async () => {
  const { agent, made, go, provider } = family();
  await agent.input("go");
  const child = await made;
  const before = provider.requests.length;
  await child.run("x");
  expect(provider.requests.length).toBeGreaterThan(before);
  expect(child.sessionId).not.toBe(agent.sessionId);
  expect(child.transcript).not.toBe(agent.transcript);
  go();
  await agent.settled();
});

test("E8: aborting the parent aborts its child", async () => {
  const started = gate();
  const wait = tool("write", (_args, signal) => {
    started.open();
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve("stopped"), { once: true }));
  });
  const { agent, made, go } = family({ child: { extensions: [wait] } });
  await agent.input("go");
  const child = await made;
  const running = child.run("write");
  await started.promise;
  const aborting = agent.abort();
  expect((await running).outcome).toBe("aborted");
  go();
  await aborting;
});

test("E8: a child that gives itself another signal is still aborted with its parent", async () => {
  const started = gate();
  const wait = tool("write", (_args, signal) => {
    started.open();
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve("stopped"), { once: true }));
  });
  const { agent, made, go } = family({ child: { extensions: [wait], signal: new AbortController().signal } });
  await agent.input("go");
  const child = await made;
  const running = child.run("write");
  await started.promise;
  const aborting = agent.abort();
  const outcome = await Promise.race([
    running.then(({ outcome: how }) => how),
    new Promise((resolve) => setTimeout(resolve, 500, "still running")),
  ]);
  expect(outcome).toBe("aborted");
  go();
  await aborting;
});

test("E8: a child that is made while its parent aborts is aborted at once", async () => {
  let outcome: string | undefined;
  const makes = tool(
    "child",
    async (_args, _signal, ctx) => {
      ctx.abort();
      outcome = (await ctx.createAgent({}).run("inner")).outcome;
      return "ok";
    },
    { effect: "read" },
  );
  const agent = createAgent({ extensions: [scripted(calls(["1", "child"])), makes] });
  await prompt(agent);
  expect(outcome).toBe("aborted");
});

test("E8: a child's options cannot name limits away", async () => {
  const { agent, made, go, pi } = family({
    child: { limits: [], extensions: [tool("write", () => "wrote", { effect: "write" })] } as never,
  });
  await agent.ready();
  pi().limitEffects({ ceiling: "read", reason: "plan mode" });
  await agent.input("go");
  expect(await writes(await made)).toBe(false);
  go();
  await agent.settled();
});

test("E8: extensions hear of a child before anything runs in it, and may listen to it", async () => {
  const heard: string[] = [];
  const listener = named("listener", (pi) => {
    pi.on("child_created", ({ child, parentRunId }) => {
      heard.push(typeof parentRunId);
      child.on("agent_start", () => void heard.push("child runs"));
    });
  });
  const spawner = tool("spawn", async (_args, _signal, ctx) => (await ctx.createAgent({}).run("sub")).answer);
  const agent = createAgent({
    extensions: [scripted(calls(["1", "spawn"]), text("sub done"), text("done")), listener, spawner],
  });
  await prompt(agent);
  expect(heard).toEqual(["string", "child runs"]);
});

test("E8: every listener hears of a child before anything runs in it, also behind one that waits", async () => {
  const heard: string[] = [];
  const slow = named(
    "slow",
    (pi) => void pi.on("child_created", () => new Promise((resolve) => setTimeout(resolve, 1))),
  );
  const second = named("second", (pi) => void pi.on("child_created", () => void heard.push("told")));
  const spawner = tool("spawn", async (_args, _signal, ctx) => {
    const child = ctx.createAgent({ extensions: [() => void heard.push("factory")] });
    await child.ready();
    return "ok";
  });
  const agent = createAgent({ extensions: [scripted(calls(["1", "spawn"]), text("done")), slow, second, spawner] });
  await prompt(agent);
  expect(heard).toEqual(["told", "factory"]);
});
