import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentError } from "@pi-agent/kernel";
import type { LoadPlan, PlanItem } from "@pi-agent/loader";
import { afterAll, expect, test, vi } from "vitest";
import type { BuiltInIo } from "../../src/commands/built-in.ts";
import { runTrust } from "../../src/commands/trust.ts";
import { item, plan } from "../trust/planned.ts";

const folder = mkdtempSync(join(tmpdir(), "pi-agent-test-"));
afterAll(() => rmSync(folder, { recursive: true }));
const EVIL = item("executable", "extension:.pi/extensions/evil.ts", {
  path: join(folder, ".pi/extensions/evil.ts"),
  uncovered: ["an import that it computes"],
});

/** Runs `pi trust` with an agent that only notes what it is told. */
async function run(args: string[], items: readonly PlanItem[] = [EVIL], fault?: AgentError) {
  const written: string[] = [];
  const said: unknown[] = [];
  const told = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const asked: LoadPlan = plan(items, { project: folder, cwd: folder });
  const io = {
    host: { cwd: folder },
    report: { plan: asked, agentDir: join(folder, "agent"), decision: "untrusted", decidedBy: "nobody", problems: [] },
    trust: {
      decide: async (...words: unknown[]) => {
        said.push(words);
        return { plan: asked, fault };
      },
      forget: async () => {
        said.push("forget");
        return { plan: asked, wasKnown: false };
      },
    },
    output: { write: (text: string) => void written.push(text) },
    loadAt: async (at: string) => ({ ...io, dispose: async () => void said.push(`left ${at}`) }),
  };
  try {
    const code = await runTrust(args, io as unknown as BuiltInIo);
    return { code, said, written: written.join(""), told: told.mock.calls.join("") };
  } finally {
    told.mockRestore();
  }
}

test("pi trust alone tells how things stand, and what to do next", async () => {
  const { code, written } = await run([]);
  expect(code).toBe(0);
  expect(written).toContain(
    `project    ${folder}\ndecision   untrusted, by nobody\nstored     nothing\nloads      nothing\n`,
  );
  expect(written).toContain("held back  1 extension\n");
  expect(written).toContain("pi trust show lists what is held back; pi trust yes lets it load.\n");
});

test("pi trust show says what to do about what is refused, and what is not covered", async () => {
  const big = item("executable", "extension:.pi/extensions/big/index.js", {
    verdict: "refused",
    reason: "is larger than 20 MB",
    hint: "Name its file.",
  });
  const { code, written } = await run(["show"], [EVIL, big]);
  expect(code).toBe(0);
  expect(written).toContain("\nextension .pi/extensions/big/index.js\n  Name its file.\n");
  expect(written).toContain("\nextension .pi/extensions/evil.ts\n  not covered: an import that it computes\n");
});

test.each([
  [["yes"], ["content", { below: false }]],
  [
    ["yes", "--folder"],
    ["folder", { below: false }],
  ],
  [
    ["text", "--below"],
    ["text", { below: true }],
  ],
  [["no"], ["never", { below: false }]],
  [
    ["yes", ".pi/extensions/evil.ts"],
    ["content", { only: EVIL.id, below: false }],
  ],
  [
    ["no", EVIL.id],
    ["never", { only: EVIL.id, below: false }],
  ],
])("pi trust %j says it, and tells what is now true", async (args, words) => {
  const { code, said, written } = await run(args);
  expect({ code, said }).toEqual({ code: 0, said: [words] });
  expect(written).toContain(folder);
  expect(written).toContain("Loads at the next start: nothing; held back: 1 extension.");
  expect(written).toContain("pi trust forget");
});

test("another folder is asked about as another project, and left again", async () => {
  const { code, said } = await run(["no", "."]);
  expect({ code, said }).toEqual({ code: 0, said: [["never", { below: false }], `left ${folder}`] });
});

test.each([
  [["yes", EVIL.id, "--folder"], "--folder and --below are about a whole project"],
  [["yes", EVIL.id, "--below"], "--folder and --below are about a whole project"],
  [["text", EVIL.id], "it is no text for the model"],
  [["forget", EVIL.id], "forget is about a whole project"],
  [["show", EVIL.id], "show is about a whole project"],
  [["yes", "nowhere"], "nothing of that name would load"],
  [["yess"], "yess is none of its words"],
])("pi trust %j is wrong usage, told in three parts, and nothing is decided", async (args, why) => {
  const { code, said, told } = await run(args);
  expect({ code, said }).toEqual({ code: 2, said: [] });
  expect(told).toMatch(/^error: .+\n {2}why: .+\n {2}try: .+\n$/);
  expect(told).toContain(why);
});

test("F041: what could not be saved is no success", async () => {
  const fault = new AgentError("trust_not_saved", "It was not saved.", { hint: "Make room." });
  await expect(run(["yes"], [EVIL], fault)).rejects.toBe(fault);
});

test("pi trust forget tells when there was nothing to forget", async () => {
  const { code, said, written } = await run(["forget"]);
  expect({ code, said }).toEqual({ code: 0, said: ["forget"] });
  expect(written).toMatch(/^Nothing was remembered about: /);
});
