import { afterEach, expect, test, vi } from "vitest";
import { createAgent } from "../src/index.ts";
import { faultsOf, named } from "./named.ts";
import { scripted, tool } from "./scripted.ts";

afterEach(() => {
  vi.useRealTimers();
});

test.each<[string, unknown]>([
  ["nothing", undefined],
  ["an object", {}],
  ["a text", "x"],
  ["a number", 7],
])("E2: an extension that exports %s is named, and the others load", async (what, exported) => {
  const bad = { extension: exported as never, owner: { name: "bad", scope: "user" as const, path: "/x/bad.ts" } };
  const agent = createAgent({ extensions: [bad, named("good", tool("a"))] });
  const faults = faultsOf(agent);
  await agent.ready();
  expect(agent.extensions[0]).toMatchObject({ state: "failed", error: { code: "invalid_extension", owner: "bad" } });
  expect(agent.extensions[0]?.error?.message, what).toContain("bad");
  expect(faults).toEqual(["bad load invalid_extension"]);
  expect(agent.registry("tool").has("a")).toBe(true);
});

test.each<[string, () => unknown]>([
  [
    "throws a text",
    () => {
      throw "boom";
    },
  ],
  [
    "throws nothing",
    () => {
      throw undefined;
    },
  ],
  ["rejects", () => Promise.reject(new Error("boom"))],
  ["rejects with nothing", () => Promise.reject()],
])("E2: a factory that %s is reported, and the others load", async (_what, factory) => {
  const agent = createAgent({ extensions: [named("bad", factory), named("good", tool("a"))] });
  await agent.ready();
  expect(agent.extensions.map(({ state }) => state)).toEqual(["failed", "loaded"]);
  expect(agent.extensions[0]?.error).toMatchObject({ owner: "bad", message: expect.stringMatching(/\w/) });
});

test("E2: a factory that fails after it was given up is no unhandled rejection, and leaves no timer", async () => {
  vi.useFakeTimers();
  const late = Promise.withResolvers<void>();
  const agent = createAgent({ extensions: [named("late", () => late.promise)] });
  await vi.advanceTimersByTimeAsync(10_000);
  await agent.ready();
  late.reject(new Error("late"));
  await vi.advanceTimersByTimeAsync(1);
  expect(agent.extensions[0]).toMatchObject({ state: "failed", error: { code: "factory_late" } });
  expect(vi.getTimerCount()).toBe(0);
});

test("E2: a factory that is done in time leaves no timer, nor does one that fails", async () => {
  vi.useFakeTimers();
  const agent = createAgent({
    extensions: [named("good", () => Promise.resolve()), named("bad", () => Promise.reject(new Error("no")))],
  });
  await agent.ready();
  await Promise.resolve();
  expect(vi.getTimerCount()).toBe(0);
});

test("E2: extensions that are loaded later fail and succeed in the same way, each by itself", async () => {
  const agent = createAgent({ extensions: [scripted()] });
  await agent.ready();
  const reports = await agent.extend([
    named("bad", () => {
      throw new Error("no");
    }),
    named("good", tool("a")),
  ]);
  expect(reports.map(({ owner, state }) => [owner.name, state])).toEqual([
    ["bad", "failed"],
    ["good", "loaded"],
  ]);
});
