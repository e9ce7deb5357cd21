import { expect, test } from "vitest";
import { createAgent, type ExtensionAPI } from "../src/index.ts";
import { faultsOf, named, prompt } from "./named.ts";
import { model, scripted, tool } from "./scripted.ts";

/** `pi` as an extension without types sees it. */
type Untyped = Record<string, (...given: unknown[]) => void>;
const untyped = (pi: ExtensionAPI) => pi as unknown as Untyped;
const sound = { description: "d", parameters: { type: "object" }, execute: () => {} };

const BAD: [what: string, code: string, factory: (pi: Untyped) => void][] = [
  ["a section that is nothing", "invalid_registration", (pi) => pi.register!("section", "x", undefined)],
  ["a section without a slot", "invalid_registration", (pi) => pi.register!("section", "x", { text: "T" })],
  ["a section in no slot", "invalid_registration", (pi) => pi.register!("section", "x", { slot: "end", text: "T" })],
  ["a section without a text", "invalid_registration", (pi) => pi.register!("section", "x", { slot: "rules" })],
  ["a command that is nothing", "invalid_registration", (pi) => pi.registerCommand!("x", undefined)],
  ["a command that is a function", "invalid_registration", (pi) => pi.registerCommand!("x", () => {})],
  ["a command with a text for a handler", "invalid_registration", (pi) => pi.registerCommand!("x", { handler: "h" })],
  ["a flag that is null", "invalid_registration", (pi) => pi.registerFlag!("x", null)],
  ["a flag of no type", "invalid_registration", (pi) => pi.registerFlag!("x", { type: "number" })],
  [
    "a flag with a number for a default",
    "invalid_registration",
    (pi) => pi.registerFlag!("x", { type: "string", default: 1 }),
  ],
  ["a shortcut without a handler", "invalid_registration", (pi) => pi.registerShortcut!("x", {})],
  ["a provider that is nothing", "invalid_name", (pi) => pi.registerProvider!(undefined)],
  ["a provider without models", "invalid_registration", (pi) => pi.registerProvider!({ id: "x", api: "x" })],
  ["a provider without an api", "invalid_registration", (pi) => pi.registerProvider!({ id: "x", models: [] })],
  ["a provider whose id is a number", "invalid_name", (pi) => pi.registerProvider!({ id: 5, api: "x", models: [] })],
  [
    "a provider under another id than its own",
    "invalid_registration",
    (pi) => pi.register!("provider", "x", { id: "", api: "x", models: [] }),
  ],
  [
    "a provider with one variable",
    "invalid_registration",
    (pi) => pi.registerProvider!({ id: "x", api: "x", models: [], env: "KEY" }),
  ],
  [
    "a provider with a model by name",
    "invalid_registration",
    (pi) => pi.registerProvider!({ id: "x", api: "x", models: ["m"] }),
  ],
  [
    "a provider with a model without an id",
    "invalid_registration",
    (pi) => pi.registerProvider!({ id: "x", api: "x", models: [{ ...model, id: "" }] }),
  ],
  [
    "a model without a provider",
    "invalid_registration",
    (pi) => pi.register!("model", "x", { ...model, provider: undefined }),
  ],
  ["an api without a stream", "invalid_registration", (pi) => pi.register!("api", "x", {})],
  ["a projector that is no function", "invalid_registration", (pi) => pi.register!("projector", "x", [])],
  ["a renderer that is nothing", "invalid_registration", (pi) => pi.registerMessageRenderer!("x", undefined)],
  ["a sub-command without run", "invalid_registration", (pi) => pi.register!("cli", "x", { summary: "s" })],
  ["a mode without run", "invalid_registration", (pi) => pi.register!("mode", "x", { ui: () => {} })],
  ["a resource kind of no grade", "invalid_registration", (pi) => pi.register!("resource-kind", "x", { places: [] })],
  ["a theme that is a list", "invalid_registration", (pi) => pi.register!("theme", "x", [])],
  ["settings without a schema", "invalid_registration", (pi) => pi.register!("settings", "x", undefined)],
  ["a tool that is nothing", "invalid_name", (pi) => pi.registerTool!(undefined)],
  ["a tool whose name has a blank", "invalid_tool", (pi) => pi.registerTool!({ ...sound, name: "a b" })],
  ["a tool whose name is too long", "invalid_tool", (pi) => pi.registerTool!({ ...sound, name: "x".repeat(129) })],
  ["a tool without execute", "invalid_tool", (pi) => pi.registerTool!({ ...sound, name: "x", execute: undefined })],
  [
    "a tool with an effect that is none",
    "invalid_tool",
    (pi) => pi.registerTool!({ ...sound, name: "x", effect: "no" }),
  ],
  ["no handler", "invalid_registration", (pi) => pi.on!("tool_call")],
  ["a handler for no hook", "invalid_registration", (pi) => pi.on!(undefined, () => {})],
  ["a hook of no way", "invalid_registration", (pi) => pi.declareHook!("own", { way: "sometimes" })],
  ["no clean-up", "invalid_registration", (pi) => pi.onDispose!(undefined)],
];

test.each(BAD)(
  "E2 F004: an extension that registers %s is named, and everything else goes on",
  async (_what, code, bad) => {
    const agent = createAgent({
      extensions: [named("bad", (pi) => bad(untyped(pi))), scripted(), named("good", tool("a"))],
    });
    const faults = faultsOf(agent);
    await prompt(agent);
    expect(faults).toEqual([`bad load ${code}`]);
    expect(agent.extensions.map(({ state }) => state)).toEqual(["failed", "loaded", "loaded"]);
    expect(agent.extensions[0]?.error).toMatchObject({ code, owner: "bad", hint: expect.stringMatching(/\w/) });
    expect(agent.transcript.project().map(({ role }) => role)).toEqual(["user", "assistant"]);
  },
);

test("E2: a registration of the wrong shape after the start is refused to its caller, and changes nothing", async () => {
  let pi!: Untyped;
  const agent = createAgent({ extensions: [scripted(), named("late", (api) => void (pi = untyped(api)))] });
  await agent.ready();
  expect(() => pi.register!("section", "x", undefined)).toThrow(expect.objectContaining({ owner: "late" }));
  expect(agent.registry("section").has("x")).toBe(false);
});

test("a provider without `env` has no variable for its key", async () => {
  const provider = { id: "free", api: "scripted", models: [{ ...model, id: "m", provider: "free" }] };
  const agent = createAgent({
    model: "free/m",
    extensions: [scripted(), named("free", (pi) => untyped(pi).registerProvider!(provider))],
  });
  await prompt(agent);
  expect(agent.registry("provider").get("free")?.value.env).toEqual([]);
  expect(agent.transcript.project().at(-1)?.role).toBe("assistant");
});

test("kinds that packages add are theirs to check", async () => {
  const agent = createAgent({ extensions: [named("own", (pi) => untyped(pi).register!("gadget", "x", undefined))] });
  await agent.ready();
  expect(agent.registry("gadget" as never).has("x")).toBe(true);
});

test("an extension may not fire a hook whose declaration did not take effect, or was taken back", async () => {
  const fired: string[] = [];
  const tries = async (pi: ExtensionAPI) => {
    expect(() => pi.declareHook("agent_settled", { way: "notify" })).toThrow(
      expect.objectContaining({ code: "hook_declared" }),
    );
    await expect(pi.dispatch("agent_settled", { runId: "forged" } as never)).rejects.toMatchObject({
      code: "not_declared",
    });
    const undo = pi.declareHook("own", { way: "notify" });
    await pi.dispatch("own" as never, {} as never);
    await undo();
    await expect(pi.dispatch("own" as never, {} as never)).rejects.toMatchObject({ code: "not_declared" });
  };
  const agent = createAgent({ extensions: [named("forger", (pi) => pi.on("session_start", () => tries(pi)))] });
  agent.on("agent_settled", ({ runId }) => void fired.push(runId));
  agent.on("own" as never, () => void fired.push("own"));
  const faults = faultsOf(agent);
  await agent.ready();
  await agent.dispatch("session_start", { reason: "startup" });
  expect([fired, faults]).toEqual([["own"], []]);
});
