import { expect, test } from "vitest";
import { createAgent, type ExtensionAPI, type ExtensionEntry } from "../src/index.ts";
import { named, prompt } from "./named.ts";
import { scripted, type Turn, text, tool } from "./scripted.ts";

const provides = (service: string): ExtensionEntry =>
  named(service, (pi) => void pi.register("service", service as never, {}));
const needs = (name: string, ...services: string[]): ExtensionEntry =>
  named(name, (pi) => void pi.register("service", name as never, {}), {
    requires: Object.fromEntries(services.map((service) => [service, `@pi-agent/${service}`])),
  });

test("E4: requirements order a whole chain, whatever the order it is given in", async () => {
  const order = async (...entries: ExtensionEntry[]) => {
    const agent = createAgent({ extensions: entries });
    const loaded: string[] = [];
    await agent.ready();
    for (const { owner, state } of agent.extensions) if (state === "loaded") loaded.push(owner.name);
    return loaded.toSorted();
  };
  expect(await order(needs("c", "b"), needs("b", "a"), provides("a"))).toEqual(["a", "b", "c"]);
  expect(await order(provides("a"), needs("c", "a", "b"), needs("b", "a"))).toEqual(["a", "b", "c"]);
});

test("E4: extensions that need each other are each told what is missing, and the others load", async () => {
  const agent = createAgent({ extensions: [needs("x", "y"), needs("y", "x"), named("good", tool("a"))] });
  await agent.ready();
  const states = agent.extensions.map(({ owner, state, error }) => [owner.name, state, error?.code]);
  expect(states).toContainEqual(["good", "loaded", undefined]);
  expect(states).toContainEqual(["x", "failed", "missing_service"]);
  expect(states).toContainEqual(["y", "failed", "missing_service"]);
});

test("E4: several missing services are all named, with the packages to install", async () => {
  const agent = createAgent({ extensions: [needs("x", "shell", "sessions")] });
  await agent.ready();
  expect(agent.extensions[0]?.error?.message).toMatch(/x needs shell, sessions/);
  expect(agent.extensions[0]?.error?.hint).toMatch(/@pi-agent\/shell, @pi-agent\/sessions/);
});

test("E4: a service that the host provides counts, and one whose provider failed does not", async () => {
  const hosted = createAgent({ extensions: [needs("x", "settings")] });
  await hosted.ready();
  expect(hosted.extensions[0]?.state).toBe("loaded");
  const broken = named("shell", (pi) => {
    pi.register("service", "shell" as never, {});
    throw new Error("no");
  });
  const agent = createAgent({ extensions: [broken, needs("x", "shell")] });
  await agent.ready();
  expect(agent.extensions.map(({ error }) => error?.code)).toEqual(["extension_failed", "missing_service"]);
});

test("E4: handlers of an extension that had to wait still run in the order of activation", async () => {
  const heard: string[] = [];
  const hears = (entry: ExtensionEntry): ExtensionEntry => ({
    ...entry,
    extension: ((pi: ExtensionAPI) => {
      pi.on("turn_start", () => void heard.push(entry.owner.name));
      return (entry.extension as (pi: ExtensionAPI) => unknown)(pi);
    }) as never,
  });
  const turn: Turn = text("done");
  const agent = createAgent({ extensions: [hears(needs("x", "a")), hears(provides("a")), scripted(turn)] });
  await prompt(agent);
  expect(heard).toEqual(["a", "x"]);
});
