import { expect, test, vi } from "vitest";
import { createAgent, type ExtensionAPI, type ExtensionEntry, type Owner } from "../src/index.ts";
import { calls, gate, model, resultTexts, scripted, tool } from "./scripted.ts";

const entry = (
  name: string,
  extension: (pi: ExtensionAPI) => unknown,
  more: Partial<ExtensionEntry> = {},
  scope: Owner["scope"] = "user",
) => ({
  extension: extension as ExtensionEntry["extension"],
  owner: { name, scope },
  ...more,
});

test("E1: what a factory registers takes effect together when it succeeds, and vanishes when it fails", async () => {
  const names: number[] = [];
  const good = async (pi: ExtensionAPI) => {
    tool("a")(pi);
    await Promise.resolve();
    names.push(agent.registry("tool").size);
    tool("b")(pi);
  };
  const bad = (pi: ExtensionAPI) => {
    tool("c")(pi);
    throw new Error("no");
  };
  const agent = createAgent({ extensions: [entry("good", good), entry("bad", bad)] });
  await agent.ready();
  expect(names).toEqual([0]);
  expect([...agent.registry("tool").keys()]).toEqual(["a", "b"]);
  expect(agent.extensions.map(({ owner, state }) => [owner.name, state])).toEqual([
    ["good", "loaded"],
    ["bad", "failed"],
  ]);
});

test("E1: unloading runs the undos in reverse and leaves handles that say so", async () => {
  const order: string[] = [];
  let keep: ExtensionAPI | undefined;
  const leaving = (pi: ExtensionAPI) => {
    keep = pi;
    tool("a")(pi);
    pi.onDispose(() => void order.push("first"));
    pi.onDispose(() => void order.push("second"));
    pi.on("turn_start", () => void order.push("heard"));
  };
  const agent = createAgent({ extensions: [scripted(), entry("leaving", leaving)] });
  await agent.ready();
  expect(await agent.unload("leaving")).toEqual({ leaks: [] });
  expect(order).toEqual(["second", "first"]);
  expect(agent.registry("tool").has("a")).toBe(false);
  await agent.run("go");
  expect(order).toHaveLength(2);
  expect(() => keep!.registerTool({ name: "late" } as never)).toThrow(/was unloaded/);
  expect(() => keep!.getActiveTools()).toThrow(/was unloaded/);
});

test("E1: an undo that fails is a leak with its owner, and the others still run", async () => {
  const order: string[] = [];
  const leaking = (pi: ExtensionAPI) => {
    pi.onDispose(() => void order.push("last"));
    pi.onDispose(() => {
      throw new Error("stuck");
    });
  };
  const agent = createAgent({ extensions: [entry("leaking", leaking)] });
  expect(await agent.dispose()).toEqual({ leaks: [{ owner: "leaking", what: "stuck" }] });
  expect(order).toEqual(["last"]);
});

test("E2 F004: a factory that throws, or is no function, is named, and everything else loads", async () => {
  const bad = () => {
    throw new Error("bad factory");
  };
  const agent = createAgent({ extensions: [entry("bad", bad), entry("none", 7 as never), entry("good", tool("a"))] });
  await agent.ready();
  expect(agent.extensions.map(({ error }) => error?.code)).toEqual([
    "extension_failed",
    "invalid_extension",
    undefined,
  ]);
  expect(agent.registry("tool").has("a")).toBe(true);
});

test("E2: a factory that hangs is given up after ten seconds", async () => {
  vi.useFakeTimers();
  const agent = createAgent({ extensions: [entry("hanging", () => new Promise(() => {})), entry("good", tool("a"))] });
  await vi.advanceTimersByTimeAsync(10_000);
  await agent.ready();
  vi.useRealTimers();
  expect(agent.extensions[0]?.error).toMatchObject({ code: "factory_late", owner: "hanging" });
  expect(agent.registry("tool").has("a")).toBe(true);
});

test("E3 F002: a name goes to the highest rank, within a rank to the first, and every loser is told", async () => {
  const claims: [string, Owner["scope"]][] = [
    ["official", "official"],
    ["package", "package"],
    ["user", "user"],
    ["late", "user"],
    ["project", "project"],
  ];
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "read"])),
      ...claims.map(([name, scope]) =>
        entry(
          name,
          tool("read", () => name),
          {},
          scope,
        ),
      ),
    ],
  });
  const told: string[] = [];
  agent.on("extension_error", ({ owner, code }) => void told.push(`${owner} ${code}`));
  await agent.run("go");
  expect(resultTexts(agent)["1"]).toBe("user");
  expect(told).toEqual(["official", "package", "late", "project"].map((name) => `${name} name_taken`));
});

test("E3: a losing command stays reachable as name:2", async () => {
  const ran: string[] = [];
  const command = (name: string) => (pi: ExtensionAPI) =>
    void pi.registerCommand("plan", { handler: () => void ran.push(name) });
  const agent = createAgent({ extensions: [entry("one", command("one")), entry("two", command("two"))] });
  expect(await agent.input("/plan")).toBe("handled");
  expect(await agent.input("/plan:2")).toBe("handled");
  expect(ran).toEqual(["one", "two"]);
});

test("E4: an extension waits for the services that it requires, and a missing one names the package", async () => {
  const order: string[] = [];
  const needs = entry("needs", () => void order.push("needs"), { requires: { compaction: "@pi-agent/compaction" } });
  const provides = entry("provides", (pi) => (order.push("provides"), pi.register("service", "compaction", {})));
  await createAgent({ extensions: [needs, provides] }).ready();
  expect(order).toEqual(["provides", "needs"]);
  const alone = createAgent({ extensions: [needs] });
  await alone.ready();
  expect(alone.extensions[0]?.error).toMatchObject({ code: "missing_service", hint: "Install @pi-agent/compaction." });
});

test("options are validated once, before the factory runs", async () => {
  const seen: unknown[] = [];
  const options = { type: "object", properties: { messages: { type: "number" } }, required: ["messages"] } as never;
  const windowed = Object.assign((_pi: ExtensionAPI, given: never) => void seen.push(given), { options });
  await createAgent({ extensions: [[windowed, { messages: "50" }]] }).ready();
  const wrong = createAgent({ extensions: [[windowed, {}]] });
  await wrong.ready();
  expect(seen).toEqual([{ messages: 50 }]);
  expect(wrong.extensions[0]?.error).toMatchObject({ code: "invalid_options" });
});

test("input hooks transform or handle, in turn; commands that expand become text after them", async () => {
  const provider = scripted();
  const shout = (pi: ExtensionAPI) => void pi.on("input", ({ text }) => ({ action: "transform", text: `${text}!` }));
  const swallow = (pi: ExtensionAPI) =>
    void pi.on("input", ({ text }) => ({ action: text === "stop!" ? "handled" : "continue" }));
  const template = (pi: ExtensionAPI) => void pi.registerCommand("fix", { expand: (args) => `Please fix ${args}` });
  const agent = createAgent({ extensions: [provider, shout, swallow, template] });
  expect(await agent.input("stop")).toBe("handled");
  expect(await agent.input("/fix it")).toBe("started");
  await agent.settled();
  expect(provider.requests[0]?.messages[0]?.content).toBe("Please fix it!");
});

test("a prompt while a run is going on is queued, and enters it", async () => {
  const started = gate();
  const going = gate();
  const provider = scripted(calls(["1", "wait"]));
  const agent = createAgent({
    extensions: [provider, tool("wait", () => (started.open(), going.promise.then(() => "ok")))],
  });
  expect(await agent.input("go")).toBe("started");
  await started.promise;
  expect(await agent.input("and this")).toBe("queued");
  going.open();
  await agent.settled();
  expect(provider.requests[1]?.messages.at(-1)?.content).toBe("and this");
});

test("while something exclusive is done prompts wait, and start the next run", async () => {
  const provider = scripted();
  const compacting = gate();
  const begun = gate();
  const exclusive = (pi: ExtensionAPI) =>
    void pi.registerCommand("compact", {
      handler: (_args, ctx) => ctx.exclusive("compacting", () => (begun.open(), compacting.promise)),
    });
  const agent = createAgent({ extensions: [provider, exclusive] });
  const command = agent.input("/compact");
  await begun.promise;
  expect(agent.state.activity).toBe("compacting");
  expect(await agent.input("meanwhile")).toBe("queued");
  compacting.open();
  await command;
  await vi.waitUntil(() => provider.requests.length === 1);
  await agent.settled();
});

test("no model and no key are said before anything starts", async () => {
  await expect(createAgent().input("go")).rejects.toMatchObject({ code: "no_model" });
  const keyed = (pi: ExtensionAPI) =>
    void pi.registerProvider({
      id: "keyed",
      api: "x",
      env: ["PI_TEST_NO_SUCH_KEY"],
      models: [{ id: "m", provider: "keyed", api: "x" } as never],
    });
  await expect(createAgent({ extensions: [keyed] }).input("go")).rejects.toMatchObject({
    code: "no_key",
    message: expect.stringContaining("PI_TEST_NO_SUCH_KEY"),
  });
  await expect(createAgent({ extensions: [keyed], model: "keyed/other" }).input("go")).rejects.toMatchObject({
    code: "unknown_model",
  });
});

test("pi.complete makes one call outside the loop, and its cost becomes a usage entry", async () => {
  let answer: unknown;
  const titled = (pi: ExtensionAPI) =>
    void pi.registerCommand("title", {
      handler: async () => {
        answer = (await pi.complete({ purpose: "title", messages: [{ role: "user", content: "x", timestamp: 1 }] }))
          .content;
      },
    });
  const provider = scripted();
  const agent = createAgent({ extensions: [provider, titled] });
  await agent.run("go");
  await agent.input("/title");
  expect(answer).toEqual([{ type: "text", text: "done" }]);
  expect(provider.requests[1]?.purpose).toBe("title");
  expect(agent.transcript.path().at(-1)).toMatchObject({ type: "usage", kind: "title" });
});

test("the host stays live: what its owner sets later is what extensions see", async () => {
  const host = { cwd: "/one", ui: undefined };
  const seen: string[] = [];
  const looker = (pi: ExtensionAPI) =>
    void pi.registerCommand("look", { handler: (_args, ctx) => void seen.push(ctx.cwd) });
  const agent = createAgent({ extensions: [looker], host });
  await agent.input("/look");
  host.cwd = "/two";
  await agent.input("/look");
  expect(seen).toEqual(["/one", "/two"]);
});

test("a model that needs no key is taken only when no other can be had", async () => {
  process.env.PI_TEST_KEY = "k";
  const keyed = (pi: ExtensionAPI) =>
    void pi.registerProvider({
      id: "keyed",
      api: "x",
      env: ["PI_TEST_KEY"],
      models: [{ ...model, provider: "keyed" }],
    });
  const agent = createAgent({ extensions: [scripted(), keyed] });
  await agent.run("go");
  delete process.env.PI_TEST_KEY;
  expect(agent.state.model?.provider).toBe("keyed");
});

test("settled waits for the run that a command asked for", async () => {
  const provider = scripted();
  const asks = (pi: ExtensionAPI) => void pi.registerCommand("ask", { handler: () => pi.sendUserMessage("asked") });
  const agent = createAgent({ extensions: [provider, asks] });
  await agent.input("/ask");
  await agent.settled();
  expect(provider.requests[0]?.messages.at(-1)?.content).toBe("asked");
});

test("two prompts at once start one run, however long the key takes", async () => {
  const provider = scripted();
  const slow = { names: () => [], resolve: () => new Promise<object>((resolve) => setTimeout(resolve, 5, {})) };
  const agent = createAgent({ extensions: [provider], host: { credentials: slow } });
  const starts: string[] = [];
  agent.on("agent_start", () => void starts.push("start"));
  agent.on("agent_settled", () => void starts.push("settled"));
  agent.steer("one");
  await agent.input("two");
  await agent.settled();
  expect(starts.join(" ")).not.toContain("start start");
});

test("an agent whose run ends during something exclusive takes the next prompt", async () => {
  const provider = scripted(calls(["1", "wait"]));
  const going = gate();
  const done = gate();
  const started = gate();
  const exclusive = (pi: ExtensionAPI) =>
    void pi.registerCommand("compact", { handler: (_args, ctx) => ctx.exclusive("compacting", () => done.promise) });
  const agent = createAgent({
    extensions: [provider, tool("wait", () => (started.open(), going.promise.then(() => "ok"))), exclusive],
  });
  await agent.input("go");
  await started.promise;
  const command = agent.input("/compact");
  going.open();
  await agent.settled();
  done.open();
  await command;
  expect(await agent.input("next")).toBe("started");
  await agent.settled();
});

test("what pi.complete sends is kept in no cache, goes its own way, and leaves no entry where the caller records it", async () => {
  const provider = scripted();
  const asker = (pi: ExtensionAPI) =>
    void pi.registerCommand("ask", {
      handler: async () => {
        const messages = [{ role: "user" as const, content: "x", timestamp: 1 }];
        await pi.complete({ purpose: "summary", messages, recordsUsage: false });
        await pi.complete({ purpose: "summary", messages, recordsUsage: false, cacheRetention: "long" });
      },
    });
  const agent = createAgent({ extensions: [provider, asker] });
  await agent.run("go");
  const size = agent.transcript.size;
  await agent.input("/ask");
  const [turn, first, second] = provider.requests;
  expect([turn, first, second].map((request) => request?.cacheRetention)).toEqual(["short", "none", "long"]);
  expect(new Set([turn, first, second].map((request) => request?.sessionId)).size).toBe(3);
  expect(agent.transcript.size).toBe(size);
});

test("pi.context serves what is called outside any handler, and pi.registry shows what others register, as it comes", async () => {
  let own: ExtensionAPI | undefined;
  const owner = (pi: ExtensionAPI) => void (own = pi);
  const agent = createAgent({ extensions: [scripted(), owner], host: { cwd: "/here" } });
  await agent.ready();
  const tools = own!.registry("tool");
  expect([own!.context.cwd, own!.context.sessionId, tools.size]).toEqual(["/here", agent.sessionId, 0]);
  await agent.extend([{ extension: tool("late"), owner: { name: "late", scope: "user" } }]);
  expect([...tools.keys()]).toEqual(["late"]);
});
