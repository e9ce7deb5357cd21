import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadAgent, logging, tool } from "./reload-agent.ts";

const AGAIN = `pi.registerCommand("again", { handler: async (args, ctx) => {
  await ctx.reload();
  try { pi.appendEntry("late"); log("acted"); } catch (error) { log(error.code); }
} });`;

test("a reload puts a new instance in the place of each old one, the official packages stay (E1)", async () => {
  const at = await loadAgent({ agentFiles: { "extensions/a.ts": logging("a") } });
  const { current } = at.agent.service("sessions")!;
  await at.host.reload();
  expect(at.lines("log")).toEqual([
    "a made",
    "a start startup",
    "a shutdown reload",
    "a made",
    "a disposed",
    "a start reload",
  ]);
  await at.ask("Go.");
  expect(at.lines("log").filter((line) => line === "a turn")).toHaveLength(1);
  expect(at.agent.service("sessions")!.current?.id).toBe(current?.id);
  expect(at.errors).toEqual([]);
});

test("F008: after three reloads there is one line a turn, one listener, one timer, and old handles say that they are old", async () => {
  const body = `pi.events.on("ping", () => log("ping"));
  let timer;
  pi.on("session_start", (_event, ctx) => {
    timer = setInterval(() => { try { pi.appendEntry("tick"); } catch (error) { log("tick " + error.code); } }, 50);
    globalThis.oldHandles.push(() => pi.setSessionName("old"));
  });
  pi.onDispose(() => clearInterval(timer));
  pi.registerCommand("ping", { handler: () => pi.events.emit("ping") });`;
  const handles: (() => void)[] = [];
  Object.assign(globalThis, { oldHandles: handles });
  const at = await loadAgent({ agentFiles: { "extensions/a.ts": logging("a", body) } });
  const timers = countTimers();
  for (let i = 0; i < 3; i++) await at.host.reload();
  await at.ask("Go.");
  await at.ask("/ping");
  const count = (what: string) => at.lines("log").filter((line) => line === `a ${what}`).length;
  expect(["made", "disposed", "turn", "ping", "tick stale_extension"].map(count)).toEqual([4, 3, 1, 1, 0]);
  expect(countTimers()).toBe(timers);
  expect(handles).toHaveLength(4);
  for (const old of handles.slice(0, 3)) expect(old).toThrow(expect.objectContaining({ code: "stale_extension" }));
  expect(at.agent.transcript.path().some(({ type }) => type === "session_info")).toBe(false);
  expect(at.errors).toEqual([]);
});

test("an extension reloads itself from its own command, whose old handles then say that they are old", async () => {
  const at = await loadAgent({ agentFiles: { "extensions/a.ts": logging("a", AGAIN) } });
  await at.ask("/again");
  await at.ask("/again");
  expect(at.lines("log").filter((line) => line === "a stale_extension")).toHaveLength(2);
  expect(at.lines("log")).not.toContain("a acted");
  expect(at.errors).toEqual([]);
});

test("what changed is read anew, with the files that it imports; what is new appears, what is gone is unloaded", async () => {
  const at = await loadAgent({
    agentFiles: {
      "extensions/a.ts": 'import { text } from "./lib/text.ts";\nimport words from "./lib/words.json";\n' + made(),
      "extensions/lib/text.ts": 'export const text = "one";',
      "extensions/lib/words.json": '{ "word": "eins" }',
      "extensions/gone.ts": tool("gone", "goes"),
    },
  });
  expect(describe(at)).toEqual({ changing: "one eins", gone: "goes" });
  await at.write(join(at.agentDir, "extensions/lib/text.ts"), 'export const text = "two";');
  await at.write(join(at.agentDir, "extensions/lib/words.json"), '{ "word": "zwei" }');
  await at.write(join(at.agentDir, "extensions/fresh.ts"), tool("fresh", "comes"));
  await rm(join(at.agentDir, "extensions/gone.ts"));
  await at.host.reload();
  expect(describe(at)).toEqual({ changing: "two zwei", fresh: "comes" });
  expect(at.report.extensions.filter(({ owner }) => owner.scope === "user").map(({ state }) => state)).toEqual([
    "loaded",
    "loaded",
  ]);
});

function made(): string {
  return 'export default (pi) => pi.registerTool({ name: "changing", description: text + " " + words.word, parameters: {}, execute: async () => ({ content: [] }) });';
}

function describe({ agent }: { agent: Awaited<ReturnType<typeof loadAgent>>["agent"] }): Record<string, string> {
  return Object.fromEntries([...agent.registry("tool")].map(([name, { value }]) => [name, value.description]));
}

test.each([
  ["does not parse", "export default const = 1;", "extension_syntax"],
  ["imports what is not there", 'import "./missing.ts";\nexport default () => {};', "extension_import"],
  ["throws in its factory", 'export default () => { throw new Error("no luck"); };', "extension_failed"],
] as const)(
  "E2: of an extension whose new version %s the old one goes on, and it is told",
  async (_what, broken, code) => {
    const at = await loadAgent({
      agentFiles: { "extensions/a.ts": tool("kept", "old"), "extensions/b.ts": tool("other", "old") },
    });
    await at.write(join(at.agentDir, "extensions/a.ts"), broken);
    await at.write(join(at.agentDir, "extensions/b.ts"), tool("other", "new"));
    await at.host.reload();
    expect(describe(at)).toEqual({ kept: "old", other: "new" });
    expect(at.errors).toEqual([expect.stringMatching(`^${code} of .*a\\.ts`)]);
    expect(at.report.extensions.find(({ owner }) => owner.name.endsWith("a.ts"))).toMatchObject({
      state: "kept",
      error: { code },
    });
    await at.write(join(at.agentDir, "extensions/a.ts"), tool("kept", "mended"));
    await at.host.reload();
    expect(describe(at)).toEqual({ kept: "mended", other: "new" });
    expect(at.report.problems).toEqual([]);
  },
);

test("F002, E3: a name goes to the same extension after a reload as before, and the loser is told once", async () => {
  const at = await loadAgent(
    {
      agentFiles: { "extensions/a.ts": tool("foo", "user") },
      files: { ".pi/extensions/b.ts": tool("foo", "project") },
    },
    { options: { flags: { approve: true } } },
  );
  for (let i = 0; i < 3; i++) {
    at.errors.length = 0;
    await at.host.reload();
    expect(at.agent.registry("tool").get("foo")?.value.description).toBe("user");
    expect([...new Set(at.errors)]).toEqual([expect.stringMatching(/^name_taken of .*b\.ts.*a\.ts/)]);
    expect(at.report.problems.map(({ code }) => code)).toEqual(["name_taken"]);
  }
  await rm(join(at.agentDir, "extensions/a.ts"));
  await at.host.reload();
  expect(at.agent.registry("tool").get("foo")?.value.description).toBe("project");
});

test("settings, models and keys are read anew; a file that is broken now leaves what was in force, and is told", async () => {
  const models = (id: string) =>
    JSON.stringify({ providers: { own: { baseUrl: "http://localhost:1", api: "scripted", models: [{ id }] } } });
  const at = await loadAgent({ agentFiles: { "settings.json": '{ "theme": "one" }', "models.json": models("m1") } });
  const seen = () => [
    at.host.settings.get("theme"),
    at.host.models
      .list()
      .map(({ id }) => id)
      .includes("m2"),
  ];
  expect(seen()).toEqual(["one", false]);
  await at.write(join(at.agentDir, "settings.json"), '{ "theme": "two" }');
  await at.write(join(at.agentDir, "models.json"), models("m2"));
  await at.host.reload();
  expect(seen()).toEqual(["two", true]);
  await at.write(join(at.agentDir, "settings.json"), '{ "theme": ');
  await at.write(join(at.agentDir, "models.json"), "{");
  await at.host.reload();
  expect(seen()).toEqual(["two", true]);
  expect(at.notices.map((text) => /\/(\w+\.json):\d+:\d+/.exec(text)?.[1])).toEqual(["settings.json", "models.json"]);
});

test("flags and the tools that are on are carried over; a new extension's tool is on, one that is off by itself is not", async () => {
  const flagged = `export default (pi) => { pi.registerFlag("tone", { type: "string", default: "dry" });
  pi.registerTool({ name: "tone", description: String(pi.getFlag("tone")), parameters: {}, execute: async () => ({ content: [] }) }); };`;
  const at = await loadAgent(
    { agentFiles: { "extensions/a.ts": flagged, "extensions/b.ts": tool("b", "b") } },
    { options: { flags: { values: new Map([["tone", "warm"]]) } } },
  );
  at.agent.setActiveTools(["tone"]);
  await at.write(join(at.agentDir, "extensions/c.ts"), tool("c", "c"));
  await at.write(
    join(at.agentDir, "extensions/d.ts"),
    tool("d", "d").replace("name:", "defaultActive: false,\n  name:"),
  );
  await at.host.reload();
  expect(describe(at).tone).toBe("warm");
  expect(at.agent.state.activeTools).toEqual(["tone", "c"]);
});

test("a run that is going on is aborted and settles before anything is reloaded", async () => {
  const script = () => ({ text: "A long answer that never ends.", hangAfter: 2 });
  const at = await loadAgent({ agentFiles: { "extensions/a.ts": logging("a") } }, { script });
  const outcomes: string[] = [];
  at.agent.on("agent_settled", ({ outcome }) => void outcomes.push(outcome, ...at.lines("log").slice(-1)));
  const started = new Promise<void>((resolve) => void at.agent.on("message_update", () => resolve()));
  await at.agent.input("Go.");
  await started;
  at.agent.steer("and then this");
  await at.host.reload();
  expect(outcomes).toEqual(["aborted", "a turn"]);
  expect(at.lines("log").at(-1)).toBe("a start reload");
  expect(at.notices).toEqual(["One message that waited for the run was dropped."]);
});

test("one change at a time: a second one is refused, also from within the first", async () => {
  const body = `pi.on("session_shutdown", async (_event, ctx) => {
    try { await globalThis.reloadAgain(); } catch (error) { log(error.code); }
  });`;
  const at = await loadAgent({ agentFiles: { "extensions/a.ts": logging("a", body) } });
  Object.assign(globalThis, { reloadAgain: () => at.host.reload() });
  at.agent.on("session_before_switch", async () => {
    await expect(at.host.reload()).rejects.toMatchObject({ code: "session_busy" });
    return { cancel: true };
  });
  expect(await at.host.newSession()).toEqual({ cancelled: true });
  const [first, second] = await Promise.allSettled([at.host.reload(), at.host.newSession()]);
  expect(first.status).toBe("fulfilled");
  expect(second).toMatchObject({ reason: { code: "session_busy", hint: expect.any(String) } });
  expect(at.lines("log")).toContain("a session_busy");
});

function countTimers(): number {
  return process.getActiveResourcesInfo().filter((type) => type === "Timeout").length;
}

test("unloading everything waits for a reload that is under way, and nothing of it stays", async () => {
  const at = await loadAgent({ agentFiles: { "extensions/a.ts": logging("a") } });
  const reloading = at.host.reload();
  await at.dispose();
  await reloading;
  const count = (what: string) => at.lines("log").filter((line) => line === `a ${what}`).length;
  expect(["made", "disposed"].map(count)).toEqual([2, 2]);
});

test("an extension that is reloaded keeps its place in the order of handlers (E3)", async () => {
  const order = (id: string) => `export default (pi) => pi.on("turn_start", () => globalThis.order.push("${id}"));`;
  const at = await loadAgent({ agentFiles: { "extensions/a.ts": order("a"), "extensions/b.ts": order("b") } });
  const seen: string[] = [];
  Object.assign(globalThis, { order: seen });
  await at.write(join(at.agentDir, "extensions/b.ts"), "export default const = 1;");
  await at.host.reload();
  await at.ask("Go.");
  expect(seen).toEqual(["a", "b"]);
});
