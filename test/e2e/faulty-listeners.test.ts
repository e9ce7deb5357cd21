import { assertEventOrder } from "@pi-agent/testing";
import { expect, test } from "vitest";
import { openWorkbench, parseLines, readSessions } from "./workbench.ts";

const EVENTS = [
  "agent_start",
  "agent_end",
  "agent_settled",
  "turn_start",
  "message_start",
  "message_update",
  "message_end",
  "tool_execution_start",
  "tool_execution_update",
  "tool_execution_end",
  "tool_result",
  "turn_end",
  "session_start",
  "session_shutdown",
  "input",
  "before_agent_start",
  "before_turn",
  "context",
  "before_provider_headers",
  "before_provider_request",
  "after_provider_response",
  "agent_before_settle",
  "transcript_append",
  "transcript_flush",
];
const TASK = [{ text: "First.", calls: [{ name: "bash", arguments: { command: "echo one" } }] }, { text: "Done." }];

test.for([
  ["at once", "() => { throw new Error('fault in ' + name); }"],
  ["later", "async () => { await null; throw new Error('fault in ' + name); }"],
] as const)(
  "F139: a listener that throws %s at every event is told, and the run has its one end and its order",
  async ([, handler]) => {
    const source = `export default (pi) => {
      for (const name of ${JSON.stringify(EVENTS)}) pi.on(name, ${handler});
    };`;
    const second = `import { appendFileSync } from "node:fs";
      export default (pi) => { for (const name of ${JSON.stringify(EVENTS)}) pi.on(name, () => appendFileSync("seen", name + "\\n")); };`;
    await using bench = await openWorkbench(TASK, {
      agentFiles: { "extensions/a-faulty.ts": source, "extensions/b-second.ts": second },
    });
    const { code, stdout, stderr } = await bench.ask("Go.", "--mode", "json").done;
    expect(code).toBe(0);
    const [, ...events] = parseLines(stdout);
    assertEventOrder(events);
    for (const type of ["agent_start", "agent_end", "agent_settled"]) {
      expect(events.filter((event) => event.type === type)).toHaveLength(1);
    }
    const seen = new Set((await bench.read("seen")).split("\n"));
    const told = EVENTS.filter((name) => stderr.includes(`fault in ${name}`));
    expect(EVENTS.filter((name) => seen.has(name) && !told.includes(name))).toEqual([]);
    expect(seen.size).toBeGreaterThan(EVENTS.length - 2);
    expect((await readSessions(bench.agentDir))[0]?.length).toBeGreaterThan(4);
  },
);

const STREAMS = [
  ["throws at once", "throw new Error('odd: at once');", 1, /odd: at once/],
  ["throws a text", "yield [{ type: 'start', partial }]; throw 'odd: a text';", 1, /odd: a text/],
  ["throws nothing", "yield [{ type: 'start', partial }]; throw undefined;", 1, /error: odd\/odd did not answer/],
  ["ends without its last event", "yield [{ type: 'start', partial }];", 1, /error: odd\/odd did not answer/],
  ["ends twice", "yield [{ type: 'start', partial }]; yield [done]; yield [done];", 0, /^$/],
] as const;

function oddProvider(body: string): string {
  return `export default (pi) => {
    const model = { id: "odd", name: "Odd", provider: "odd", api: "odd", reasoning: false, input: ["text"],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 1000, maxTokens: 100 };
    pi.registerProvider({ id: "odd", api: "odd", models: [model], env: ["ODD_KEY"] });
    pi.register("api", "odd", { async *stream() {
      const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0,
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
      const partial = { role: "assistant", content: [], api: "odd", provider: "odd", model: "odd", usage,
        stopReason: "pending", timestamp: Date.now() };
      const done = { type: "done", reason: "stop",
        message: { ...partial, stopReason: "stop", content: [{ type: "text", text: "Once." }] } };
      ${body}
    } });
  };`;
}

test.for(STREAMS)(
  "F139: a provider whose stream %s ends the run once, with its reason",
  async ([, body, code, told]) => {
    await using bench = await openWorkbench([], { agentFiles: { "extensions/odd.ts": oddProvider(body) } });
    const args = ["-p", "Go.", "--mode", "json", "--model", "odd/odd"];
    const result = await bench.pi(args, { env: { ODD_KEY: "k" } }).done;
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(told);
    const [, ...events] = parseLines(result.stdout);
    assertEventOrder(events);
    expect(events.filter(({ type }) => type === "agent_settled")).toHaveLength(1);
  },
);

test("F139: a provider whose stream never ends is waited for until somebody interrupts", async () => {
  const body = "console.error('HOLDING'); yield [{ type: 'start', partial }]; await new Promise(() => {});";
  await using bench = await openWorkbench([], { agentFiles: { "extensions/odd.ts": oddProvider(body) } });
  const run = bench.pi(["-p", "Go.", "--model", "odd/odd"], { env: { ODD_KEY: "k" } });
  await run.waitForStderr("HOLDING");
  run.kill("SIGINT");
  expect((await run.done).code).toBe(130);
});
