import { expect, test } from "vitest";
import { openWorkbench } from "./workbench.ts";

const COSTLY = `
export default (pi) => {
  pi.register("section", "costly", { slot: "rules", text: "x".repeat(400) });
  pi.registerTool({ name: "costly", description: "y".repeat(400), parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [] }) });
  pi.on("project_trust", async () => { await new Promise((go) => setTimeout(go, 30)); throw new Error("no luck"); });
};
`;

test("E6: pi doctor counts what an extension costs a start: its load, its hooks, its part of the prompt, its errors", async () => {
  await using bench = await openWorkbench([], {
    files: { ".pi/SYSTEM.md": "Obey." },
    agentFiles: { "extensions/costly.ts": COSTLY },
  });
  const { stdout } = await bench.pi(["doctor", "--json"]).done;
  const { extensions } = JSON.parse(stdout) as { extensions: Record<string, unknown>[] };
  const costly = extensions.find(({ path }) => String(path).endsWith("costly.ts"));
  expect(costly).toMatchObject({ state: "loaded", scope: "user", errors: 1, slow: expect.any(Array) });
  expect(costly?.loadMs).toBeGreaterThan(0);
  expect(costly?.hookMs).toBeGreaterThan(20);
  const prompt = await bench.pi(["prompt", "--json"]).done;
  const { sections, tools } = JSON.parse(prompt.stdout) as Record<string, { name: string; estimatedTokens: number }[]>;
  const price = [...sections!, ...tools!].filter(({ name }) => name === "costly").map((part) => part.estimatedTokens);
  expect(price).toEqual([100, expect.any(Number)]);
  expect(costly?.promptTokens).toBe(price[0]! + price[1]!);
});

test("E6: pi prompt --text is, letter by letter, what the model is sent", async () => {
  await using bench = await openWorkbench([{ text: "Done." }], { files: { "AGENTS.md": "Be brief.\n" } });
  const { stdout } = await bench.pi(["prompt", "--text"]).done;
  await bench.ask("Go.").done;
  expect(stdout).toContain("Be brief.");
  expect(`${bench.server.requests[0]?.neutral?.system}\n`).toBe(stdout);
});
