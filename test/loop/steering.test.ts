import { type Agent, createAgent, type ExtensionAPI, type HookName } from "@pi-agent/kernel";
import { assertEventOrder, assertValidForStrictProvider, recordEvents, scriptedProvider } from "@pi-agent/testing";
import { expect, test } from "vitest";

/** The moments in which a message is easily lost or doubled, each as the hook it is steered from. */
const MOMENTS: [what: string, hook: HookName, is: (event: { message?: unknown }) => boolean][] = [
  ["before the first turn", "before_agent_start", () => true],
  ["at the run's start", "agent_start", () => true],
  ["while the answer streams", "message_update", () => true],
  ["as the calls begin", "tool_execution_start", () => true],
  ["in a gate", "tool_call", () => true],
  ["between parallel results", "tool_execution_end", () => true],
  ["as a result is stored", "message_end", ({ message }) => (message as { role: string }).role === "toolResult"],
  ["at a turn's end", "turn_end", () => true],
  [
    "as a failure is stored",
    "message_end",
    ({ message }) => (message as { stopReason?: string }).stopReason === "error",
  ],
  ["while a retry waits", "auto_retry_start", () => true],
  ["in the last answer", "message_end", ({ message }) => JSON.stringify(message).includes("Done.")],
  ["in the same tick as the end", "agent_end", () => true],
  ["before it settles", "agent_before_settle", () => true],
  ["as it settles", "agent_settled", () => true],
];
const ENDS = ["well", "with an error", "with an abort"] as const;

function build(
  end: (typeof ENDS)[number],
  mode: "one-at-a-time" | "all",
): { agent: Agent; requests: ReturnType<typeof scriptedProvider>["requests"] } {
  const call = { name: "work", arguments: {} };
  const last = end === "with an error" ? { fail: { status: 400 } } : { text: "Done." };
  const script = [
    { fail: { status: 529 } },
    { text: "Working.", calls: [call, call, call] },
    { calls: [call] },
    last,
    ...Array.from({ length: 60 }, () => ({ text: "Yes." })),
  ];
  const workshop = (pi: ExtensionAPI) => {
    let runs = 0;
    pi.registerTool({
      name: "work",
      description: "work",
      parameters: { type: "object", properties: {} } as never,
      async execute(_id, _args, _signal, _onUpdate, ctx) {
        await new Promise((resolve) => setImmediate(resolve));
        if (++runs === 4 && end === "with an abort") ctx.abort();
        return { content: [{ type: "text", text: "ok" }] };
      },
    });
    pi.on("provider_error", ({ message }) =>
      message.failure?.status === 529 ? { retry: { delayMs: 1, reason: "busy" } } : undefined,
    );
  };
  const provider = scriptedProvider(script);
  const agent = createAgent({ extensions: [provider, workshop], steeringMode: mode, followUpMode: mode });
  return { agent, requests: provider.requests };
}

/** Twenty messages, every fourth of them a follow-up. */
const TWENTY = Array.from(
  { length: 20 },
  (_, i) => ({ text: `message ${i}`, how: i % 4 === 3 ? "followUp" : "steer" }) as const,
);

test.each(ENDS.flatMap((end) => (["one-at-a-time", "all"] as const).map((mode) => [end, mode] as const)))(
  "F134 K10: twenty messages at once, in each awkward moment of a run that ends %s (%s), are each there once, after the results, in order",
  async (end, mode) => {
    for (const [what, hook, is] of MOMENTS) {
      const { agent } = build(end, mode);
      await agent.ready();
      const recorded = recordEvents(agent);
      let isSaid = false;
      agent.on(hook, ((event: { message?: unknown }) => {
        if (isSaid || !is(event)) return;
        isSaid = true;
        for (const { text, how } of TWENTY) agent[how](text);
      }) as never);
      await agent.input("go");
      await agent.settled();
      assertEventOrder(recorded.events);
      assertValidForStrictProvider(agent.transcript.project());
      const entered = agent.transcript
        .path()
        .flatMap((entry) => (entry.type === "message" && entry.message.role === "user" ? [entry.message.content] : []));
      const waiting = [...agent.queue.steering, ...agent.queue.followUp].map(({ content }) => content);
      if (end === "well") expect(isSaid, what).toBe(true);
      if (isSaid) {
        expect(entered.length + waiting.length, what).toBe(21);
        expect(new Set([...entered, ...waiting]), what).toEqual(new Set(["go", ...TWENTY.map(({ text }) => text)]));
        for (const how of ["steer", "followUp"] as const) {
          const said = TWENTY.filter((each) => each.how === how).map(({ text }): unknown => text);
          expect(
            [...entered, ...waiting].filter((each) => said.includes(each)),
            `${what}: ${how} in order`,
          ).toEqual(said);
        }
      }
      expect(agent.state.activity, what).toBe("idle");
      await agent.dispose();
    }
  },
);

test("F134: what is steered while something exclusive is done starts the next run, once", async () => {
  const provider = scriptedProvider(() => ({ text: "Yes." }));
  const tidies = (pi: ExtensionAPI) =>
    void pi.registerCommand("tidy", {
      handler: (_args, ctx) =>
        ctx.exclusive("compacting", async () => {
          for (const { text, how } of TWENTY) agent[how](text);
          await new Promise((resolve) => setImmediate(resolve));
          expect(provider.requests).toHaveLength(0);
        }),
    });
  const agent = createAgent({ extensions: [provider, tidies], steeringMode: "all", followUpMode: "all" });
  await agent.input("/tidy");
  await agent.settled();
  const users = agent.transcript.project().filter(({ role }) => role === "user");
  expect(users).toHaveLength(20);
});
