import { expect, test } from "vitest";
import { createAgent, type HookEvent, type Host, type JsonObject } from "../src/index.ts";
import { faultsOf, handles, prompt } from "./named.ts";
import { calls, resultTexts, scripted, tool } from "./scripted.ts";

const TEXT = { type: "object", properties: { text: { type: "string" } } } as never;

/** What a gate hears that a call touches. */
async function touched(
  touches: (args: JsonObject) => unknown,
  options: { args?: JsonObject; before?: (event: HookEvent<"tool_call">) => void; host?: Partial<Host> } = {},
) {
  const { args = { text: "/x" }, before = () => {}, host } = options;
  const heard: HookEvent<"tool_call">["touches"][] = [];
  let ran = 0;
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "a", args])),
      tool("a", () => `${++ran}`, { parameters: TEXT, touches: touches as never }),
      handles("changes", "tool_call", before as never),
      handles(
        "guard",
        "tool_call",
        ({ touches: paths }: HookEvent<"tool_call">) => void heard.push(structuredClone(paths)),
      ),
    ],
    host,
  });
  const faults = faultsOf(agent);
  await prompt(agent);
  return { heard, ran, faults };
}

const writes1 = ({ text: path }: JsonObject) => ({ write: [path as string] });

test("E9: a gate hears the paths of the arguments as the gates before it left them", async () => {
  const { heard } = await touched(writes1, { before: ({ input }) => void (input.text = "/etc/passwd") });
  expect(heard).toEqual([{ read: [], write: ["/etc/passwd"] }]);
});

test("E9: the host's gate is asked last, so that it hears what will be run", async () => {
  let ran = 0;
  const changes = handles(
    "changes",
    "tool_call",
    ({ input }: HookEvent<"tool_call">) => void (input.text = "/etc/passwd"),
  );
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "a", { text: "/harmless" }])),
      tool("a", () => `${++ran}`, { parameters: TEXT, touches: writes1 as never }),
    ],
  });
  agent.on("tool_call", ({ touches: paths }) =>
    paths?.write.includes("/etc/passwd") ? { block: true, reason: "guarded" } : undefined,
  );
  await agent.extend([changes]);
  await prompt(agent);
  expect(resultTexts(agent)["1"]).toBe("guarded");
  expect(ran).toBe(0);
});

test("E9: gates hear the paths as the host makes them real", async () => {
  const realPath = (path: string) => `/real/${path}`;
  const { heard } = await touched(writes1, { args: { text: "link/passwd" }, host: { realPath } });
  expect(heard).toEqual([{ read: [], write: ["/real/link/passwd"] }]);
});

test.each<[string, (args: JsonObject) => unknown]>([
  ["a promise", async () => ({ write: ["/x"] })],
  ["paths that are no list", () => ({ write: "/x" })],
  ["paths that are no text", () => ({ write: [7] })],
])("E9: a tool that answers %s for what it touches is not run past a gate that cannot know", async (_what, touches) => {
  const { ran } = await touched(touches);
  expect(ran).toBe(0);
});

test("E9: a tool that says nothing of what it touches is told so, and runs", async () => {
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "a"])),
      tool("a", () => "ran"),
      handles("guard", "tool_call", ({ touches }: HookEvent<"tool_call">) => void heard.push(touches)),
    ],
  });
  const heard: unknown[] = [];
  await prompt(agent);
  expect(heard).toEqual([undefined]);
  expect(resultTexts(agent)["1"]).toBe("ran");
});

test("E9: what a gate does to the paths that it hears changes nothing for the next", async () => {
  const { heard } = await touched(writes1, {
    before: (event) => {
      try {
        event.touches!.write.length = 0;
      } catch {
        // Frozen, which is as good.
      }
    },
  });
  expect(heard).toEqual([{ read: [], write: ["/x"] }]);
});
