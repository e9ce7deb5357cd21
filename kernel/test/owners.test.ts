import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createAgent, currentOwner, type ExtensionAPI, runAs } from "../src/index.ts";
import { faultsOf, named, prompt } from "./named.ts";
import { calls, model, scripted, text, tool, whole } from "./scripted.ts";

let rejections: (string | undefined)[] = [];
let others: NodeJS.UnhandledRejectionListener[] = [];
const onRejection = () => void rejections.push(currentOwner()?.name);

beforeEach(() => {
  rejections = [];
  others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", onRejection);
});
afterEach(() => {
  process.off("unhandledRejection", onRejection);
  for (const each of others) process.on("unhandledRejection", each);
});

/** Everything of an extension that the kernel calls; each tells in whose name it runs. */
function everywhere(pi: ExtensionAPI, look: (where: string) => void): void {
  look("the factory");
  pi.on("turn_start", () => look("a notice"));
  pi.on("context", () => look("a chain"));
  pi.on("tool_call", ({ touches }) => look(touches ? "a gate" : "a gate that is told nothing"));
  pi.on("provider_call", (request, next) => (look("a wrapper"), next(request)));
  pi.events.on("channel", () => look("the bus"));
  pi.onDispose(() => look("an undo"));
  pi.register("section", "s", { slot: "rules", text: () => (look("a section"), "") });
  pi.register("projector", "mine", () => (look("a projector"), []));
  pi.limitEffects({ ceiling: "execute", reason: "x", classify: () => (look("classify"), undefined) });
  pi.registerCommand("act", { handler: () => look("a command") });
  pi.registerCommand("grow", { expand: () => (look("an expansion"), "grown") });
  pi.registerProvider({
    id: "mine",
    api: "mine",
    models: [{ ...model, id: "mine", provider: "mine", api: "mine" }],
    env: [],
  });
  let turn = 0;
  pi.register("api", "mine", {
    async *stream() {
      look("an api");
      yield whole(turn++ === 0 ? calls(["1", "t"]) : text("done"));
    },
  });
  tool("t", () => (look("a tool"), "ok"), {
    effect: () => (look("effect"), "read"),
    touches: () => (look("touches"), {}),
    prepareArguments: (args) => (look("prepareArguments"), args),
  })(pi);
}

const WHERE = [
  "the factory",
  "a notice",
  "a chain",
  "a gate",
  "a wrapper",
  "the bus",
  "an undo",
  "a section",
  "a projector",
  "classify",
  "a command",
  "an expansion",
  "an api",
  "a tool",
  "effect",
  "touches",
  "prepareArguments",
];

async function visitAll(look: (where: string) => void): Promise<void> {
  let emit: (() => void) | undefined;
  const other = named("other", (pi) => {
    emit = () => pi.events.emit("channel", 1);
  });
  const agent = createAgent({ extensions: [named("mine", (pi) => everywhere(pi, look)), other], model: "mine/mine" });
  await agent.ready();
  agent.append([{ type: "custom", customType: "mine" }]);
  emit!();
  await prompt(agent, "/act");
  await prompt(agent, "/grow");
  await agent.dispose();
}

test("K14: all code of an extension runs in its name", async () => {
  const seen = new Map<string, string | undefined>();
  await visitAll((where) => seen.set(where, currentOwner()?.name));
  expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(WHERE.map((where) => [where, "mine"])));
});

test("K14 F011: a rejection that is left floating anywhere in an extension is told with its name", async () => {
  await visitAll(() => void Promise.reject(new Error("floating")));
  await vi.waitUntil(() => rejections.length >= WHERE.length);
  expect(new Set(rejections)).toEqual(new Set(["mine"]));
});

test("K14: the name stays through awaits, timers, immediates and microtasks, and nothing runs in it outside", async () => {
  const seen: (string | undefined)[] = [];
  const look = () => void seen.push(currentOwner()?.name);
  await runAs({ name: "outer", scope: "user" }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    look();
    await new Promise<void>((resolve) => setImmediate(() => (look(), resolve())));
    await new Promise<void>((resolve) => queueMicrotask(() => (look(), resolve())));
    runAs({ name: "inner", scope: "user" }, look);
    look();
  });
  expect(seen).toEqual(["outer", "outer", "outer", "inner", "outer"]);
  expect(currentOwner()).toBeUndefined();
});

test("K14: a listener of the host that is called from within an extension runs in the host's name", async () => {
  const seen: (string | undefined)[] = [];
  const steering = named("steering", (pi) => {
    pi.on("turn_start", ({ turnIndex }) => {
      if (turnIndex === 0) pi.sendUserMessage("s");
    });
  });
  const agent = createAgent({ extensions: [scripted(), steering] });
  agent.on("queue_update", () => void seen.push(currentOwner()?.name));
  await prompt(agent);
  expect(new Set(seen)).toEqual(new Set(["host"]));
});

test("K14 F011: what a bus listener throws, now or later, is reported with its owner, and the others hear on", async () => {
  let emit: (() => void) | undefined;
  const heard: string[] = [];
  const listens = (name: string, listener: () => unknown) =>
    named(name, (pi) => void pi.events.on("c", listener as () => void));
  const agent = createAgent({
    extensions: [
      listens("throws", () => {
        throw new Error("now");
      }),
      listens("rejects", () => Promise.reject(new Error("later"))),
      listens("hears", () => void heard.push("hears")),
      named("emits", (pi) => {
        emit = () => pi.events.emit("c", 1);
      }),
    ],
  });
  const faults = faultsOf(agent);
  await agent.ready();
  emit!();
  await new Promise((resolve) => setImmediate(resolve));
  expect(heard).toEqual(["hears"]);
  expect(faults).toEqual(["throws events:c extension_failed", "rejects events:c extension_failed"]);
  expect(rejections).toEqual([]);
});

test("K14: a fault reaches an embedding program with its owner and the error itself", async () => {
  const error = new Error("mine");
  const bad = named("bad", (pi) => {
    pi.on("turn_start", () => {
      throw error;
    });
  });
  const agent = createAgent({ extensions: [scripted(), bad] });
  const faults: { owner: string; error: Error }[] = [];
  agent.on("fault", ({ owner, error: told }) => void faults.push({ owner, error: told }));
  await prompt(agent);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatchObject({ owner: "bad", error: { cause: error, message: "mine" } });
});
