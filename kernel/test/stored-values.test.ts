import { expect, test } from "vitest";
import { type Agent, createAgent, type ExtensionAPI, type StreamEvent } from "../src/index.ts";
import { faultsOf, handles, named, prompt } from "./named.ts";
import { calls, scripted, text, tool, whole } from "./scripted.ts";

const circle: { self?: unknown } = {};
circle.self = circle;

class Point {
  x = 1;
}

/** A parent whose children know it: naive walkers take 3 ^ depth steps. */
function family(): unknown {
  const parent: { name: string; children: unknown[] } = { name: "p", children: [] };
  for (let i = 0; i < 3; i++) parent.children.push({ name: `c${i}`, parent });
  return parent;
}

function shared(depth: number): unknown {
  let value: unknown = "end";
  for (let i = 0; i < depth; i++) value = { left: value, right: value };
  return value;
}

function nested(depth: number): unknown {
  let value: unknown = "end";
  for (let i = 0; i < depth; i++) value = i % 2 ? [value] : { value };
  return value;
}

class Noted extends Array<unknown> {
  toJSON(): never {
    throw new Error("no");
  }
}

/** Values that no transcript can keep, made anew for each use. */
const UNFIT: [what: string, make: () => unknown][] = [
  ["a big number", () => 1n],
  ["a big number in a frozen object", () => Object.freeze({ big: 1n })],
  ["a function in a frozen list", () => Object.freeze([() => {}])],
  [
    "a cycle in a frozen object",
    () => {
      const frozen: { self?: unknown } = {};
      frozen.self = frozen;
      return Object.freeze(frozen);
    },
  ],
  ["a cycle", () => circle],
  ["a function", () => () => {}],
  ["a symbol", () => Symbol("s")],
  ["what is no number", () => Number.NaN],
  ["what has no end", () => Number.POSITIVE_INFINITY],
  ["a map", () => new Map([[1, 2]])],
  ["a date", () => new Date(0)],
  ["an instance of a class", () => new Point()],
  ["a promise", () => Promise.resolve(1)],
  ["a buffer", () => new Uint8Array(3)],
  ["10,000 levels", () => nested(10_000)],
  [
    "a getter that throws",
    () =>
      Object.defineProperty({}, "x", {
        enumerable: true,
        get() {
          throw new Error("no");
        },
      }),
  ],
  [
    "a proxy that throws",
    () =>
      new Proxy(
        {},
        {
          get() {
            throw new Error("no");
          },
          ownKeys() {
            throw new Error("no");
          },
        },
      ),
  ],
  ["half a pair", () => "half \ud83d"],
  ["half a pair in a frozen object", () => Object.freeze({ text: "half \ud83d" })],
  ["half a pair in a name", () => ({ "\ud83d": 1 })],
  ["a thing that turns to JSON by itself", () => ({ toJSON: () => 1n })],
  ["a list of a class that turns to JSON by itself", () => Noted.from([1])],
  ["a list with holes", () => Object.assign([], { 2: "x" })],
  ["a cycle that branches", () => family()],
  ["a tree of shared parts that is written as 2 ^ 150 parts", () => shared(150)],
];

/** The places where a value from outside can enter a transcript. */
const PLACES: [where: string, build: (make: () => unknown) => (pi: ExtensionAPI) => void][] = [
  ["a tool's content", (make) => tool("a", () => ({ content: [{ type: "text", text: "x", extra: make() }] }))],
  ["a tool's details", (make) => tool("a", () => ({ content: [], details: make() }))],
  ["a tool's usage", (make) => tool("a", () => ({ content: [], usage: make() }))],
  ["a tool's error", (make) => tool("a", () => Promise.reject(make() as Error))],
  ["a hook's details of a result", (make) => (pi) => void pi.on("tool_result", () => ({ details: make() }) as never)],
  [
    "a hook's content of a result",
    (make) => (pi) =>
      void pi.on("tool_result", () => ({ content: [{ type: "text", text: "x", extra: make() }] }) as never),
  ],
  ["a hook's reason", (make) => (pi) => void pi.on("tool_call", () => ({ block: true, reason: make() }) as never)],
  [
    "a hook's message",
    (make) => (pi) => void pi.on("message_end", ({ message }) => ({ message: { ...message, extra: make() } }) as never),
  ],
  [
    "a prompt's addition",
    (make) => (pi) =>
      void pi.on(
        "before_agent_start",
        () => ({ message: { customType: "x", content: "x", display: true, details: make() } }) as never,
      ),
  ],
  [
    "a turn's draft",
    (make) => (pi) =>
      void pi.on("before_turn", () => ({ entries: [{ type: "custom", customType: "x", data: make() }] }) as never),
  ],
  [
    "a boundary's draft",
    (make) => (pi) =>
      void pi.on("turn_end", () => ({ entries: [{ type: "custom", customType: "x", data: make() }] }) as never),
  ],
  [
    "a retry's draft",
    (make) => (pi) =>
      void pi.on(
        "provider_error",
        () =>
          ({
            retry: { delayMs: 0, reason: "x", entries: [{ type: "custom", customType: "x", data: make() }] },
          }) as never,
      ),
  ],
  [
    "an entry of an extension",
    (make) => (pi) => void pi.on("turn_start", () => void pi.appendEntry("x", make() as never)),
  ],
  [
    "a message of an extension",
    (make) => (pi) =>
      void pi.on("turn_start", ({ turnIndex }) => {
        const details = make() as never;
        if (turnIndex === 0) pi.sendMessage({ customType: "x", content: "x", display: true, details });
      }),
  ],
  ["a name of a session", (make) => (pi) => void pi.on("turn_start", () => pi.setSessionName(make() as never))],
  [
    "an answer",
    (make) => (pi) => {
      let isFirst = true;
      pi.register("api", "scripted", {
        async *stream(): AsyncGenerator<readonly StreamEvent[]> {
          const answer = isFirst ? calls(["1", "a"]) : text("done");
          if (isFirst) Object.assign(answer, { extra: make() });
          isFirst = false;
          yield whole(answer);
        },
      });
    },
  ],
  [
    "a call's arguments",
    (make) => (pi) => {
      let isFirst = true;
      pi.register("api", "scripted", {
        async *stream(): AsyncGenerator<readonly StreamEvent[]> {
          const answer = isFirst ? calls(["1", "a", { extra: make() as never }]) : text("done");
          isFirst = false;
          yield whole(answer);
        },
      });
    },
  ],
];

/** Tells what in a value a transcript cannot keep, or that somebody could still change. */
function unsound(value: unknown, path = "entries", depth = 0): string[] {
  if (value === null || typeof value === "boolean" || value === undefined) return [];
  if (typeof value === "string") return value.isWellFormed() ? [] : [`${path} is ill-formed`];
  if (typeof value === "number") return Number.isFinite(value) ? [] : [`${path} is ${value}`];
  if (typeof value !== "object") return [`${path} is a ${typeof value}`];
  if (depth > 210) return [`${path.slice(0, 80)} is too deep`];
  const prototype: unknown = Object.getPrototypeOf(value);
  if (![Object.prototype, Array.prototype, null].includes(prototype as never)) return [`${path} is no plain object`];
  const problems = depth > 0 && !Object.isFrozen(value) ? [`${path} is not frozen`] : [];
  for (const [key, property] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    if (property.get) problems.push(`${path}.${key} is a getter`);
    if (!key.isWellFormed()) problems.push(`${path} has an ill-formed key`);
    else if (!property.get)
      problems.push(...unsound((value as Record<string, unknown>)[key], `${path}.${key}`, depth + 1));
  }
  return problems;
}

async function runWith(place: (pi: ExtensionAPI) => void): Promise<{ agent: Agent; outcomes: string[] }> {
  const agent = createAgent({
    extensions: [scripted(calls(["1", "a"])), named("outside", place), named("own", tool("a"), { scope: "official" })],
    host: { ui: { notify: () => {} } as never },
  });
  const outcomes: string[] = [];
  agent.on("agent_settled", ({ outcome }) => void outcomes.push(outcome));
  await prompt(agent);
  await prompt(agent, "again");
  return { agent, outcomes };
}

test.each(PLACES)(
  "K7 F083: whatever comes by %s, the transcript holds sound JSON, each call has its result, and the run settles",
  async (_where, build) => {
    for (const [what, make] of UNFIT) {
      const { agent, outcomes } = await runWith(build(make));
      expect(unsound(agent.transcript.path()), what).toEqual([]);
      expect(() => JSON.stringify(agent.transcript.path()), what).not.toThrow();
      expect(outcomes, what).toHaveLength(2);
      expect(outcomes.at(-1), what).toBe("done");
      const open = new Set<string>();
      for (const message of agent.transcript.project()) {
        if (message.role === "toolResult") open.delete(message.toolCallId);
        else if (message.role === "assistant")
          for (const block of message.content) if (block.type === "toolCall") open.add(block.id);
      }
      expect([...open], what).toEqual([]);
    }
  },
);

test("K7: 150 levels are kept as they are", async () => {
  const deep = nested(150);
  const { agent } = await runWith(tool("a", () => ({ content: [], details: deep })));
  expect(agent.transcript.project()[2]).toMatchObject({ details: deep });
});

test.each(UNFIT)("K7: an agent's host that appends %s is told, and all or nothing is stored", async (what, make) => {
  const agent = createAgent({ extensions: [scripted()] });
  await agent.ready();
  const before = agent.transcript.size;
  const drafts = [
    { type: "custom", customType: "fine" },
    { type: "custom", customType: "x", data: make() },
  ] as never;
  if (what.startsWith("half a pair")) {
    try {
      agent.append(drafts);
    } catch (thrown) {
      expect(thrown).toMatchObject({ code: "invalid_entry" });
    }
  } else {
    expect(() => agent.append(drafts)).toThrow(
      expect.objectContaining({ code: "invalid_entry", hint: expect.any(String) }),
    );
    expect(agent.transcript.size).toBe(before);
  }
  expect(unsound(agent.transcript.path())).toEqual([]);
});

test.each(UNFIT)("K7: a session that is opened with %s in it does not break the agent", async (_what, make) => {
  const at = { timestamp: "2026-01-01T00:00:00.000Z" };
  const entries = [
    { type: "message", id: "00000001", parentId: null, ...at, message: { role: "user", content: "hi", timestamp: 1 } },
    { type: "custom", id: "00000002", parentId: "00000001", ...at, customType: "x", data: make() },
  ] as never;
  const agent = createAgent({ extensions: [scripted()], entries });
  await prompt(agent);
  expect(agent.transcript.project().at(-1)).toMatchObject({ content: [{ text: "done" }] });
});

test("K7: what a caller goes on changing after it was handed over does not change the transcript", async () => {
  const message = { role: "user" as const, content: [{ type: "text" as const, text: "before" }], timestamp: 1 };
  const agent = createAgent({ extensions: [scripted()] });
  await agent.ready();
  agent.steer(message);
  try {
    message.content[0]!.text = "after";
    message.content.push({ type: "text", text: "more" });
  } catch {
    // Frozen, which is as good.
  }
  await agent.settled();
  expect(agent.transcript.project()[0]?.content).toEqual([{ type: "text", text: "before" }]);
});

test("K7: what the caller goes on using is not what is stored, and is not frozen", async () => {
  const content = [Object.preventExtensions({ type: "text" as const, text: "before" })];
  const agent = createAgent({ extensions: [scripted()] });
  await agent.ready();
  agent.steer({ role: "user", content: Object.preventExtensions(content), timestamp: 1 });
  content[0]!.text = "after";
  await agent.settled();
  expect(agent.transcript.project()[0]?.content).toEqual([{ type: "text", text: "before" }]);
});

test("K7: what says whether a result is an error is stored as yes or no", async () => {
  const odd = tool("a", () => ({ content: [], isError: "yes", terminate: "yes" }));
  const agent = createAgent({ extensions: [scripted(calls(["1", "a"])), odd] });
  await prompt(agent);
  expect(typeof agent.transcript.project()[2]).toBe("object");
  expect(agent.transcript.project()[2]).toMatchObject({ isError: expect.any(Boolean) });
  expect(agent.transcript.project(), "and a word does not end the run").toHaveLength(4);
});

test("K7: an agent goes on when a tool's owner is told of what cannot be stored", async () => {
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "a"])),
      tool("a"),
      handles("bad", "turn_end", () => ({
        entries: [{ type: "custom", customType: "x", data: Object.freeze({ big: 1n }) }],
      })),
    ],
  });
  const faults = faultsOf(agent);
  await prompt(agent);
  expect(new Set(faults)).toEqual(new Set(["bad turn_end invalid_entry"]));
});
