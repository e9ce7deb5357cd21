import { createAgent, type Extension, type Host, type Json, type Message, type Ui } from "@pi-agent/kernel";
import { assertValidForStrictProvider, type ScriptedProvider, scriptedProvider, type Turn } from "@pi-agent/testing";
import { expect, test } from "vitest";
import slidingWindow, { type WindowOptions } from "../src/index.ts";

const LOOK = { name: "look", arguments: {} };
const ONE: Turn = { calls: [LOOK] };
const THREE: Turn = { calls: [LOOK, LOOK, LOOK] };
const look: Extension = (pi) => {
  pi.registerTool({
    name: "look",
    description: "Looks.",
    parameters: { type: "object" },
    execute: async () => ({ content: [{ type: "text", text: "Seen. ".repeat(20) }] }),
  });
};

async function run(given: {
  script: Turn[];
  options?: WindowOptions;
  settings?: Record<string, Json>;
  more?: Extension[];
  host?: Partial<Host>;
  prompts?: string[];
}) {
  const { script, options, settings = {}, more = [], prompts = ["The task."] } = given;
  const provider = scriptedProvider([...script, { text: "Done." }]);
  const windows: Message[][] = [];
  const watch: Extension = (pi) =>
    void pi.on("provider_call", (request, next) => {
      windows.push([...request.messages]);
      return next(request);
    });
  const notices: string[] = [];
  const shown: (string | undefined)[] = [];
  const ui = {
    notify: (text: string) => void notices.push(text),
    setStatus: (_key: string, text?: string) => void shown.push(text),
  } as unknown as Ui;
  const agent = createAgent({
    extensions: [...more, [slidingWindow, options], provider, look, watch],
    host: { ui, settings: { get: (key) => settings[key], set: async () => {}, onChange: () => () => {} } },
  });
  const faults: { code: string; owner?: string; message: string }[] = [];
  agent.on("fault", ({ error, owner }) => void faults.push({ code: error.code, owner, message: error.message }));
  await agent.ready();
  const [extension] = agent.extensions.slice(more.length);
  for (const prompt of prompts) {
    await agent.input(prompt);
    await agent.settled();
  }
  const path = agent.transcript.path();
  await agent.dispose();
  return { windows, notices, shown, faults, extension, path, requests: (provider as ScriptedProvider).requests };
}

const many = (turn: Turn, count = 12) => Array.from({ length: count }, () => turn);

test("F100: in a run with parallel calls each request is the window, and the session keeps everything", async () => {
  const { windows, path, faults } = await run({ script: many(THREE), options: { messages: 6 } });
  expect(windows.map((window) => window.length)).toEqual([1, 5, ...Array(11).fill(5)]);
  for (const window of windows) assertValidForStrictProvider(window);
  expect(path.filter((entry) => entry.type === "message" && entry.message.role !== "system")).toHaveLength(
    1 + 12 * 4 + 1,
  );
  expect(faults).toEqual([]);
});

test("the task is kept where that is asked for", async () => {
  const { windows } = await run({ script: many(ONE), options: { messages: 5, keepFirst: true } });
  for (const window of windows) expect(window[0]).toMatchObject({ role: "user", content: "The task." });
  expect(windows.at(-1)).toHaveLength(5);
});

test("tokens: no request is larger than the window", async () => {
  const { windows } = await run({ script: many(ONE), options: { tokens: 100 } });
  const last = windows.at(-1)!;
  expect(last.length).toBeGreaterThan(3);
  expect(JSON.stringify(last.map(({ content }) => content)).length).toBeLessThan(4 * 100 + 400);
});

test("without a size as much is sent as three quarters of what the model reads", async () => {
  const small: Extension = (pi) => {
    pi.on("before_turn", ({ model }) => ({ model: { ...model, contextWindow: 200 } }));
  };
  const { windows } = await run({ script: many(ONE), more: [small] });
  const dropped = 2 * 12 + 1 - windows.at(-1)!.length;
  expect(dropped).toBeGreaterThan(5);
  const whole = await run({ script: many(ONE) });
  expect(whole.windows.at(-1)).toHaveLength(25);
});

test("what is left out is told once in words, and in the status when it changes", async () => {
  const { notices, shown } = await run({
    script: many(ONE, 3),
    options: { messages: 3 },
    prompts: ["The task.", "More."],
  });
  expect(notices).toEqual([
    "The model is sent the last part only from now on: 3 earlier messages are left out. The session keeps all.",
  ]);
  expect(shown).toEqual([
    "3 earlier messages are left out",
    "5 earlier messages are left out",
    "7 earlier messages are left out",
  ]);
});

test("a conversation that fits is sent as it is, and nothing is told", async () => {
  const { windows, notices, shown } = await run({ script: [ONE], options: { messages: 3 } });
  expect(windows.map((window) => window.length)).toEqual([1, 3]);
  expect([notices, shown]).toEqual([[], []]);
});

test.for([{ messages: 0 }, { messages: -1 }, { tokens: 0 }, { tokens: 1.5 }, { messages: 3, tokens: 9 }, { most: 3 }])(
  "F100: an impossible window is refused when it is configured: %j",
  async (options) => {
    const { extension, windows } = await run({ script: [ONE], options });
    expect(extension).toMatchObject({ state: "failed", error: { code: "invalid_options" } });
    expect(windows.at(-1)).toHaveLength(3);
  },
);

test("settings make the window where no option does", async () => {
  const settings = { "slidingWindow.messages": 3, "slidingWindow.keepFirst": true };
  const { windows } = await run({ script: many(ONE), settings });
  expect(windows.at(-1)!.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult"]);
  const both = await run({ script: many(ONE), settings, options: { messages: 5 } });
  expect(both.windows.at(-1)).toHaveLength(5);
});

test.for([
  [{ messages: 3, tokens: 9 }, "names both"],
  [{ messages: 0 }, "0 is no size"],
  [{ tokens: "many" }, '"many" is no size'],
] as const)(
  "F100: settings that cannot be are told once, by name, and everything is sent: %j",
  async ([given, why]) => {
    const settings = Object.fromEntries(Object.entries(given).map(([key, value]) => [`slidingWindow.${key}`, value]));
    const { windows, faults } = await run({ script: many(ONE, 4), settings });
    expect(faults).toEqual([
      { code: "invalid_options", owner: expect.any(String), message: expect.stringContaining(why) },
    ]);
    expect(windows.at(-1)).toHaveLength(9);
  },
);
