import { expect, test } from "vitest";
import { createAgent, type ExtensionAPI, type Owner } from "../src/index.ts";
import { named, prompt } from "./named.ts";
import { calls, resultTexts, scripted, text, tool } from "./scripted.ts";

type Rank = Owner["scope"];
const RANKS: Rank[] = ["official", "package", "user", "flag"];

async function winnerOf(first: Rank, second: Rank): Promise<{ winner: string | undefined; told: string[] }> {
  const claim = (scope: Rank) =>
    named(
      scope,
      tool("read", () => scope),
      { scope, path: `/${scope}.ts` },
    );
  const twin = (scope: Rank) =>
    named(
      `${scope} again`,
      tool("read", () => `${scope} again`),
      { scope, path: `/${scope}2.ts` },
    );
  const agent = createAgent({
    extensions: [scripted(calls(["1", "read"])), claim(first), first === second ? twin(second) : claim(second)],
  });
  const told: string[] = [];
  agent.on(
    "extension_error",
    ({ owner, code, error, extensionPath }) => void told.push(`${owner} ${code} ${extensionPath} ${error}`),
  );
  await prompt(agent);
  return { winner: resultTexts(agent)["1"], told };
}

test.each(RANKS.flatMap((a) => RANKS.map((b) => [a, b] as const)))(
  "E3 F002: between %s and %s the name goes to the higher rank, or to the first",
  async (a, b) => {
    const { winner, told } = await winnerOf(a, b);
    const expected = RANKS.indexOf(a) >= RANKS.indexOf(b) ? a : b;
    expect(winner).toBe(expected);
    expect(told, "the loser is told once").toHaveLength(1);
  },
);

test("E3: the loser is told with both paths", async () => {
  const { told } = await winnerOf("user", "flag");
  expect(told[0]).toMatch(/^user name_taken \/user\.ts/);
  expect(told[0]).toContain("/flag.ts");
});

test.each(RANKS)("E3: a project never takes a name from %s, whoever comes first, and may add names", async (rank) => {
  for (const order of [0, 1]) {
    const project = named(
      "project",
      (pi) => {
        tool("read", () => "project")(pi);
        tool("extra", () => "project")(pi);
      },
      { scope: "project" },
    );
    const other = named(
      rank,
      tool("read", () => rank),
      { scope: rank },
    );
    const both = order ? [project, other] : [other, project];
    const agent = createAgent({ extensions: [scripted(calls(["1", "read"], ["2", "extra"])), ...both] });
    await prompt(agent);
    expect(resultTexts(agent)).toEqual({ 1: rank, 2: "project" });
  }
});

test("E3: when the winner is unloaded the name goes to the next in rank, and back when it returns", async () => {
  const agent = createAgent({
    extensions: [
      scripted(...["1", "2", "3"].flatMap((id) => [calls([id, "read"]), text("done")])),
      named(
        "official",
        tool("read", () => "official"),
        { scope: "official" },
      ),
      named(
        "user",
        tool("read", () => "user"),
      ),
    ],
  });
  await prompt(agent);
  await agent.unload("user");
  await prompt(agent);
  await agent.extend([
    named(
      "user",
      tool("read", () => "user"),
    ),
  ]);
  await prompt(agent);
  expect(resultTexts(agent)).toEqual({ 1: "user", 2: "official", 3: "user" });
});

test("E3: every losing command stays reachable, in the order of rank, and the numbers close up", async () => {
  const ran: string[] = [];
  const command = (name: string, scope: Rank) =>
    named(name, (pi: ExtensionAPI) => void pi.registerCommand("plan", { handler: () => void ran.push(name) }), {
      scope,
    });
  const agent = createAgent({
    extensions: [command("official", "official"), command("user", "user"), command("project", "project")],
  });
  for (const each of ["/plan", "/plan:2", "/plan:3"]) await prompt(agent, each);
  expect(ran).toEqual(["user", "official", "project"]);
  await agent.unload("official");
  expect([...agent.registry("command").keys()]).toEqual(["plan", "plan:2"]);
  await prompt(agent, "/plan:2");
  expect(ran.at(-1)).toBe("project");
});

test("E3: a name that somebody claimed is nobody's spare name, in whatever order they come and go", async () => {
  const command = (owner: string, name: string) =>
    named(owner, (pi) => void pi.registerCommand(name, { description: owner, handler: () => {} }));
  const agent = createAgent({ extensions: [command("p", "review:2"), command("q", "review")] });
  await agent.ready();
  const held = () => [...agent.registry("command")].map(([name, { value }]) => `${name} ${value.description}`).sort();
  expect(held()).toEqual(["review q", "review:2 p"]);
  await agent.extend([command("r", "review"), command("s", "review")]);
  expect(held()).toEqual(["review q", "review:2 p", "review:3 r", "review:4 s"]);
  await agent.unload("p");
  expect(held()).toEqual(["review q", "review:2 r", "review:3 s"]);
  await agent.extend([command("p", "review:2")]);
  expect(held()).toEqual(["review q", "review:2 p", "review:3 r", "review:4 s"]);
  await agent.unload("q");
  expect(held()).toEqual(["review r", "review:2 p", "review:3 s"]);
  await agent.unload("r");
  await agent.unload("s");
  expect(held()).toEqual(["review:2 p"]);
});

test("E3 F002: tools, commands, shortcuts, flags, sections and providers follow one rule", async () => {
  const claim = (name: string, scope: Rank) =>
    named(
      name,
      (pi) => {
        tool("x")(pi);
        pi.registerCommand("x", { handler: () => {} });
        pi.registerShortcut("x", { handler: () => {} });
        pi.registerFlag("x", { type: "boolean" });
        pi.register("section", "x", { slot: "rules", text: name });
        pi.registerProvider({ id: "x", api: "x", models: [], env: [] });
        pi.register("service", "files", {});
      },
      { scope },
    );
  const agent = createAgent({ extensions: [claim("official", "official"), claim("user", "user")] });
  const told: string[] = [];
  agent.on("extension_error", ({ event }) => void told.push(event));
  await agent.ready();
  const kinds = ["tool", "command", "shortcut", "flag", "section", "provider"] as const;
  for (const kind of kinds) expect(agent.registry(kind).get("x")?.owner.name, kind).toBe("user");
  expect(agent.registry("service").get("files")?.owner.name).toBe("user");
  expect(told.toSorted()).toEqual([...kinds, "service"].map((kind) => `register:${kind}`).toSorted());
});

test("E3: handlers run in load order, whatever the rank", async () => {
  const heard: string[] = [];
  const hears = (name: string, scope: Rank) =>
    named(name, (pi) => void pi.on("turn_start", () => void heard.push(name)), { scope });
  await prompt(
    createAgent({
      extensions: [scripted(), hears("first", "project"), hears("second", "flag"), hears("third", "official")],
    }),
  );
  expect(heard).toEqual(["first", "second", "third"]);
});

test("E3: the host's own names are taken by nobody, and nobody is told off for it", async () => {
  const agent = createAgent({
    systemPrompt: "The host's.",
    extensions: [
      scripted(),
      named("mine", (pi) => void pi.register("section", "preamble", { slot: "preamble", text: "Mine." })),
    ],
  });
  const told: string[] = [];
  agent.on("extension_error", ({ code }) => void told.push(code));
  await prompt(agent);
  expect(agent.state.systemPrompt).toBe("The host's.");
  expect(told).toEqual([]);
});
