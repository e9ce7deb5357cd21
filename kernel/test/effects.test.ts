import { expect, test } from "vitest";
import { createAgent, type Effect, type ExtensionAPI, type Limit } from "../src/index.ts";
import { named, prompt } from "./named.ts";
import { calls, resultTexts, scripted, tool } from "./scripted.ts";

const TEXT = { type: "object", properties: { text: { type: "string" } } } as never;

const limits = (limit: Partial<Limit>) =>
  named("limits", (pi) => void pi.limitEffects({ ceiling: "read", reason: "plan mode", ...limit }));

/** Whether a tool of this effect runs under these limits. */
async function runs(effect: unknown, ...given: Partial<Limit>[]): Promise<boolean> {
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "a"])),
      named(
        "own",
        tool("a", () => "ran", { effect: effect as Effect }),
      ),
      ...given.map(limits),
    ],
  });
  await prompt(agent);
  return resultTexts(agent)["1"] === "ran";
}

test.each<[Effect | undefined, Effect, boolean]>([
  ["read", "read", true],
  ["write", "read", false],
  ["execute", "read", false],
  [undefined, "read", false],
  ["read", "write", true],
  ["write", "write", true],
  ["execute", "write", false],
  [undefined, "write", false],
  ["execute", "execute", true],
  [undefined, "execute", true],
])("E8: a tool of effect %s under a ceiling of %s runs: %s", async (effect, ceiling, expected) => {
  expect(await runs(effect, { ceiling })).toBe(expected);
});

test.each<[string, unknown]>([
  ["a word that is no effect", "raed"],
  ["nothing", () => undefined],
  ["a promise", () => Promise.resolve("read")],
  [
    "a throw",
    () => {
      throw new Error("no");
    },
  ],
])("E8 F044: a tool whose effect is %s counts as execute, or is not run", async (_what, effect) => {
  expect(await runs(effect, { ceiling: "write" })).toBe(false);
});

test.each<[string, unknown]>([
  ["a misspelt word", "raed"],
  ["nothing", undefined],
])("E8 F044: a limit whose ceiling is %s does not grant everything", async (_what, ceiling) => {
  expect(await runs("execute", { ceiling: ceiling as Effect })).toBe(false);
});

test.each<[string, () => unknown]>([
  ["raises", () => "execute"],
  ["answers rubbish", () => "nothing"],
  ["answers a promise", () => Promise.resolve("read")],
  ["answers nothing", () => undefined],
])("E8: a classify that %s leaves a write where it is", async (_what, classify) => {
  expect(await runs("write", { ceiling: "read", classify: classify as never })).toBe(false);
  expect(await runs("write", { ceiling: "write", classify: classify as never })).toBe(true);
});

test("E8: a classify that throws refuses the call, and the run goes on", async () => {
  const throws = () => {
    throw new Error("no");
  };
  expect(await runs("read", { ceiling: "read", classify: throws })).toBe(false);
});

test("E8: a classify sees the validated call, cannot change its arguments, and lowers for its own limit only", async () => {
  const seen: unknown[] = [];
  const classify: Limit["classify"] = (call) => {
    seen.push(structuredClone(call));
    try {
      call.args.text = "rm -rf";
    } catch {
      // Frozen, which is as good.
    }
    return "read";
  };
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "a", { text: 5 }])),
      tool("a", ({ text: said }) => said, { parameters: TEXT }),
      limits({ classify }),
    ],
  });
  await prompt(agent);
  expect(seen).toEqual([{ toolName: "a", args: { text: "5" }, effect: "execute" }]);
  expect(resultTexts(agent)["1"]).toBe("5");
  expect(await runs("write", { classify: () => "read" }, { ceiling: "read" })).toBe(false);
});

test("E8: a limit that is set or lifted in mid-run holds from the next call on, and lifting one lifts only that one", async () => {
  let pi: ExtensionAPI | undefined;
  const limiter = named("limiter", (api) => void (pi = api));
  let undo: (() => void) | undefined;
  const agent = createAgent({
    extensions: [scripted(calls(["1", "a"]), calls(["2", "a"]), calls(["3", "a"])), limiter, tool("a", () => "ran")],
  });
  agent.on("turn_start", ({ turnIndex }) => {
    if (turnIndex === 1) undo = pi!.limitEffects({ ceiling: "read", reason: "one" }) as () => void;
    if (turnIndex === 2) undo!();
  });
  await prompt(agent);
  expect(Object.values(resultTexts(agent)).map((each) => each === "ran")).toEqual([true, false, true]);
});

test("E8: no hook lifts a limit: not an allowing gate, not changed arguments, not another tool set", async () => {
  const hooks = named("hooks", (pi) => {
    pi.on("tool_call", ({ input }) => {
      input.text = "anything";
      return { block: false };
    });
    pi.on("before_turn", () => ({ activeTools: ["a"] }));
    pi.on("tool_result", () => ({ isError: false }));
  });
  let ran = 0;
  const agent = createAgent({
    extensions: [scripted(calls(["1", "a"])), tool("a", () => `${++ran}`), limits({}), hooks],
  });
  await prompt(agent);
  expect(ran).toBe(0);
});

test("E8 F043: a limit that is set while a batch's gates are asked holds for every call that has not begun", async () => {
  let ran = 0;
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "a"], ["2", "a"])),
      tool("a", () => `${++ran}`, { effect: "write", executionMode: "sequential" }),
      named("plan", (pi) => {
        pi.on("tool_call", ({ toolCallId }) => {
          if (toolCallId === "2") pi.limitEffects({ ceiling: "read", reason: "plan mode" });
        });
      }),
    ],
  });
  await prompt(agent);
  expect(ran).toBe(1);
  expect(resultTexts(agent)["2"]).toContain("plan mode");
});
