import { createAgent, type ExtensionAPI, type Message } from "@pi-agent/kernel";
import { assertEventOrder, recordEvents, scriptedProvider } from "@pi-agent/testing";
import { expect, test } from "vitest";

const SCRIPT = [
  { thinking: "Two at once.", text: "Reading.", calls: [call("quick"), call("slow"), call("ghost")] },
  { calls: [call("alone"), call("quick")] },
  { text: "Done." },
];

function call(name: string) {
  return { name, arguments: {} };
}

/** Three tools that obey the signal, one of which forces its batch to run in order; hooks on either side of each call. */
function workshop(pi: ExtensionAPI): void {
  const parameters = { type: "object", properties: {} } as never;
  const pause = (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
    });
  for (const [name, ms] of [
    ["quick", 0],
    ["slow", 3],
    ["alone", 1],
  ] as const) {
    pi.registerTool({
      name,
      description: name,
      parameters,
      executionMode: name === "alone" ? "sequential" : "parallel",
      async execute(_id, _args, signal, onUpdate) {
        onUpdate({ content: [] });
        await pause(ms, signal);
        return { content: [{ type: "text", text: signal.aborted ? "stopped" : "done" }] };
      },
    });
  }
  pi.on("tool_call", async () => {});
  pi.on("tool_result", async () => {});
  pi.on("before_turn", async () => {});
  pi.on("context", async () => {});
  pi.on("transcript_flush", async () => {});
}

/** Runs the script, aborts after the event with that number, and answers how many events there were. */
async function runAndAbort(after: number): Promise<number> {
  const agent = createAgent({ extensions: [scriptedProvider(SCRIPT), workshop] });
  await agent.ready();
  const recorded = recordEvents(agent, { all: true });
  let count = 0;
  let aborting: Promise<unknown> | undefined;
  const watch = () => {
    count += 1;
    if (count === after) aborting = agent.abort();
  };
  agent.onWire(watch);
  const result = await agent.run("go");
  await aborting;
  if (aborting) expect(["aborted", "done"], `after event ${after}`).toContain(result.outcome);
  assertEventOrder(recorded.events);
  assertAnswered(agent.transcript.project());
  expect(agent.state).toMatchObject({ activity: "idle", runId: undefined });
  await agent.dispose();
  return count;
}

function assertAnswered(messages: readonly Message[]): void {
  const open = new Set<string>();
  for (const message of messages) {
    if (message.role === "toolResult") expect(open.delete(message.toolCallId)).toBe(true);
    else {
      expect(open.size).toBe(0);
      if (message.role !== "assistant") continue;
      for (const block of message.content) if (block.type === "toolCall") open.add(block.id);
    }
  }
  expect(open.size).toBe(0);
}

test("K9: aborting after event n, for every n of a run, settles with a valid transcript and the events in order", async () => {
  const total = await runAndAbort(0);
  expect(total).toBeGreaterThan(40);
  for (let after = 1; after <= total; after++) await runAndAbort(after);
});
