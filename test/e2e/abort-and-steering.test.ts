import { lastResults, type Script } from "@pi-agent/testing";
import { expect, test } from "vitest";
import { openWorkbench, readSessions, type Workbench } from "./workbench.ts";

const MODEL = ["--model", "wire-anthropic/scripted"];
const HOLD = `export default (pi) => pi.registerTool({
  name: "hold", description: "Holds.", parameters: { type: "object", properties: {} },
  execute: (_id, _args, signal, onUpdate) => { console.error("HOLDING"); return hold(signal); } });
`;
const hold = (body: string) => `${HOLD}const hold = (signal) => ${body};\n`;
const CALL: Script = [{ calls: [{ name: "hold", arguments: {} }] }, { text: "Back." }];

/** Goes on with what an abort left, and checks that the model can be sent it. */
async function goOn(bench: Workbench): Promise<void> {
  await readSessions(bench.agentDir);
  expect((await bench.pi(["-p", "-c", "-ne", "Go on.", ...MODEL]).done).stdout).toBe("Back.\n");
  expect(bench.server.refusals()).toEqual([]);
}

test.for([
  ["a tool that never answers", hold("new Promise(() => {})")],
  [
    "a tool that fails a second after the abort",
    hold(`new Promise((_, fail) => signal.addEventListener("abort",
    () => setTimeout(() => fail(new Error("too late")), 300)))`),
  ],
  [
    "a tool that is busy for some seconds",
    hold("{ for (const end = Date.now() + 2000; Date.now() < end; ); return new Promise(() => {}); }"),
  ],
  [
    "a gate that never answers",
    `${hold("0")}export const x = 0;`.replace(
      "export default (pi) =>",
      `export default (pi) => {
    pi.on("tool_call", () => { console.error("HOLDING"); return new Promise(() => {}); }); reg(pi); };
    const reg = (pi) =>`,
    ),
  ],
  [
    "a retry that waits",
    `export default (pi) => pi.on("provider_error", () => {
    console.error("HOLDING"); return { retry: { delayMs: 60_000, reason: "later" } }; });`,
  ],
] as const)("F133: interrupted in %s, it ends with 130 and the session can go on", async ([name, source]) => {
  const script = name.includes("retry") ? [{ fail: { status: 503 } }, { text: "Back." }] : CALL;
  await using bench = await openWorkbench(script, { agentFiles: { "extensions/holds.ts": source } });
  const run = bench.ask("Go.");
  await run.waitForStderr("HOLDING");
  run.kill("SIGINT");
  const { code, stdout, stderr } = await run.done;
  expect({ code, stdout }).toEqual({ code: 130, stdout: "" });
  expect(stderr).not.toMatch(/too late|unhandled/i);
  await goOn(bench);
});

test("F133: interrupted before the first byte, it ends with 130 and the session can go on", async () => {
  await using bench = await openWorkbench([{ text: "never", delayMs: 60_000 }, { text: "Back." }]);
  const run = bench.ask("Go.");
  await bench.server.waitForRequest(0);
  run.kill("SIGINT");
  expect(await run.done).toMatchObject({ code: 130, stdout: "" });
  await goOn(bench);
});

test("F133: two interrupts within ten milliseconds end it at once, and harm nothing that was stored", async () => {
  await using bench = await openWorkbench(CALL, {
    agentFiles: { "extensions/holds.ts": hold("new Promise(() => {})") },
  });
  const run = bench.ask("Go.");
  await run.waitForStderr("HOLDING");
  run.kill("SIGINT");
  run.kill("SIGINT");
  expect(await run.done).toMatchObject({ code: 130, stdout: "" });
  await goOn(bench);
});

const STEERING = `export default (pi) => {
  let deltas = 0, results = 0;
  const steer = (text) => pi.sendUserMessage(text, { deliverAs: "steer" });
  pi.on("message_update", () => void (deltas++ === 0 && steer("steer: in the stream")));
  pi.on("tool_execution_end", () => void (++results === 1 ? steer("steer: between results")
    : results === 2 && Array.from({ length: 20 }, (_, n) => steer("steer: burst " + n + "."))));
  pi.on("tool_execution_start", ({ toolName }) => void (toolName === "bash" && steer("steer: in the last tool")));
  let ends = 0;
  pi.on("turn_end", () => void (ends++ === 0 && steer("steer: at the turn's end")));
  pi.on("agent_end", () => void (ends++ < 100 && (ends = 100) && steer("steer: in the tick of the end")));
};
`;
const STEERED: Script = (request) => {
  const calls = [
    { name: "read", arguments: { path: "a.txt" } },
    { name: "read", arguments: { path: "b.txt" } },
  ];
  const hasCalled = request.messages.some(({ role }) => role === "tool");
  return hasCalled ? { text: "Done." } : { text: "Several words of text.", calls };
};

test("F134: what is steered at any moment reaches the model exactly once, in order, after the results", async () => {
  await using bench = await openWorkbench(STEERED, {
    files: { "a.txt": "alpha\n", "b.txt": "beta\n" },
    agentFiles: { "extensions/steers.ts": STEERING },
  });
  const { code, stdout } = await bench.ask("Go.").done;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" });
  expect(bench.server.refusals()).toEqual([]);
  expect(lastResults(bench.server.requests[1]!.neutral!)).toHaveLength(2);
  const sent = JSON.stringify(bench.server.requests.at(-1)?.neutral?.messages.filter(({ role }) => role === "user"));
  const steered = [...sent.matchAll(/steer: [^"\\.]+/g)].map(([text]) => text.trim());
  const bursts = Array.from({ length: 20 }, (_, n) => `steer: burst ${n}`);
  expect(steered).toEqual([
    "steer: in the stream",
    "steer: between results",
    ...bursts,
    "steer: at the turn's end",
    "steer: in the tick of the end",
  ]);
});

test.for([
  ["breaks off", { text: "Several words of text.", fail: "error-event" }],
  ["is refused with 400", { fail: { status: 400 } }],
] as const)("F134: what is steered into a turn whose answer %s is told as not sent, each once", async ([, turn]) => {
  const source = `export default (pi) => {
    const steer = (text) => pi.sendUserMessage(text, { deliverAs: "steer" });
    pi.on("turn_start", () => steer("steer: early"));
    pi.on("message_end", ({ message }) => void (message.stopReason === "error" && steer("steer: late")));
  };`;
  await using bench = await openWorkbench([turn, { text: "Back." }], {
    agentFiles: { "extensions/steers.ts": source },
  });
  const { code, stderr } = await bench.ask("Go.").done;
  expect(code).toBe(1);
  expect(stderr.match(/steer: \w+/g)).toEqual(["steer: early", "steer: late"]);
  await goOn(bench);
});
