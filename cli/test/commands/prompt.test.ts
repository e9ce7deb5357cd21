import { expect, onTestFinished, test, vi } from "vitest";
import { showPrompt } from "../../src/commands/prompt.ts";
import { createScriptedAgent } from "../scripted-agent.ts";

const TEXT = "be\u001b[2J \u202ekind";

async function show(args: string[], options: Parameters<typeof createScriptedAgent>[1] = {}, isTTY = false) {
  const agent = createScriptedAgent(["Done."], { systemPrompt: TEXT, ...options });
  await agent.ready();
  let written = "";
  const output = { stream: { isTTY }, write: (text: string) => void (written += text) };
  const code = await showPrompt(args, { agent, output: output as never, report: { problems: [] } as never });
  return { agent, code, written };
}

test.each([
  [true, "be\ufffd[2J \ufffdkind"],
  [false, TEXT],
])("pi prompt is made safe to show where standard output is a terminal: %s", async (isTTY, expected) => {
  const { agent, code, written } = await show([], {}, isTTY);
  expect(code).toBe(0);
  expect(written).toContain(`tokens\n${expected}\n`);
  await agent.dispose();
});

const withTool: Parameters<typeof createScriptedAgent>[1] = {
  extensions: [
    {
      owner: { name: "looks", scope: "user", path: "/there/looks.ts" },
      extension: (pi) => {
        pi.register("section", "manners", { slot: "rules", text: "Be brief." });
        pi.registerTool({
          name: "look",
          description: "x".repeat(400),
          parameters: { type: "object", properties: {} } as never,
          execute: async () => ({ content: [] }),
        });
      },
    },
  ],
};

test("E6: pi prompt prices each section and each tool, says where it comes from, and sums up", async () => {
  const { agent, written } = await show([], withTool);
  expect(written).toContain("--- manners · slot rules · looks · /there/looks.ts · about 3 tokens\nBe brief.\n");
  expect(written).toMatch(/^look {2}about 1\d\d tokens {2}looks · \/there\/looks\.ts$/m);
  expect(written).toMatch(
    /^--- 2 sections, about 6 tokens · 1 tool, about (1\d\d) tokens · together about 1\d\d tokens$/m,
  );
  await agent.dispose();
});

test("E6: pi prompt --json has the same as data", async () => {
  const { agent, written } = await show(["--json"], withTool);
  const { sections, tools, estimatedTokens } = JSON.parse(written);
  expect(sections[1]).toEqual({
    name: "manners",
    slot: "rules",
    owner: { name: "looks", scope: "user", path: "/there/looks.ts" },
    text: "Be brief.",
    estimatedTokens: 3,
  });
  expect(tools).toMatchObject([{ name: "look", owner: { name: "looks" } }]);
  expect(estimatedTokens).toEqual({ sections: 6, tools: tools[0].estimatedTokens, all: 6 + tools[0].estimatedTokens });
  await agent.dispose();
});

test("pi prompt --text is the prompt that the model gets, letter by letter", async () => {
  const { agent, written } = await show(["--text"], withTool);
  let sent = "";
  agent.on("provider_call", (request, next) => {
    sent = request.systemPrompt;
    return next(request);
  });
  await agent.run("hi");
  expect(written).toBe(`${sent}\n`);
  await agent.dispose();
});

test.each([[["--jsn"]], [["--json", "--text"]], [["all"]]])("pi prompt %j is wrong usage", async (args) => {
  const { agent, code, written } = await show(args);
  expect({ code, written }).toEqual({ code: 2, written: "" });
  await agent.dispose();
});

test("pi prompt tells of a section that throws on standard error", async () => {
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  onTestFinished(() => written.mockRestore());
  const broken = () => {
    throw new Error("no manners");
  };
  const { agent, code } = await show([], {
    extensions: [(pi) => void pi.register("section", "manners", { slot: "rules", text: broken })],
  });
  expect(code).toBe(0);
  expect(written.mock.calls.map(([text]) => text).join("")).toMatch(/failed in section:manners\n {2}why: no manners\n/);
  await agent.dispose();
});
