import { expect, test } from "vitest";
import { createAgent, type ExtensionAPI, type HookName } from "../src/index.ts";
import { faultsOf, handles, named } from "./named.ts";
import {
  assistant,
  calls,
  failure,
  gate,
  model,
  outline,
  record,
  resultTexts,
  scripted,
  text,
  tool,
  whole,
} from "./scripted.ts";

/** An api that asks every hook a provider asks. */
function courteous(pi: ExtensionAPI): void {
  pi.registerProvider({
    id: "courteous",
    api: "courteous",
    models: [{ ...model, provider: "courteous", api: "courteous" }],
    env: [],
  });
  let turn = 0;
  pi.register("api", "courteous", {
    async *stream(request) {
      await request.onHeaders({});
      await request.onPayload({});
      await request.onResponse({ status: 200, headers: new Headers() });
      await request.onStreamEvent?.({});
      turn++;
      const partial = assistant([{ type: "text", text: "x" }], { stopReason: "pending" });
      yield [
        { type: "start", partial },
        { type: "text_start", contentIndex: 0 },
      ];
      yield [
        { type: "text_delta", contentIndex: 0, delta: "x" },
        { type: "text_end", contentIndex: 0, content: "x" },
      ];
      yield whole(turn === 1 ? calls(["1", "a"]) : turn === 2 ? failure("server") : text("done")).slice(1);
    },
  });
}

const WAITED_FOR: HookName[] = [
  "before_agent_start",
  "agent_start",
  "turn_start",
  "message_start",
  "message_update",
  "message_end",
  "before_turn",
  "transcript_flush",
  "context",
  "before_provider_headers",
  "before_provider_request",
  "after_provider_response",
  "provider_stream_event",
  "tool_execution_start",
  "tool_call",
  "tool_execution_update",
  "tool_result",
  "tool_execution_end",
  "turn_end",
  "provider_error",
  "agent_end",
  "agent_before_settle",
  "agent_settled",
];

test.each(WAITED_FOR)(
  "K9 F133: an abort while a handler of %s hangs settles after the grace period and names it",
  async (hook) => {
    const hanging = gate();
    let hangs = true;
    const handler = handles("hangs", hook, () => {
      if (!hangs) return undefined;
      hangs = false;
      hanging.open();
      return new Promise(() => {});
    });
    const update = tool("a", (_args, _signal, _ctx, onUpdate) => (onUpdate({ content: [] }), "ok"));
    const agent = createAgent({ extensions: [courteous, update, handler], graceMs: 5 });
    const faults = faultsOf(agent);
    const events = record(agent);
    await agent.input("go");
    await hanging.promise;
    await agent.abort();
    expect(agent.state).toMatchObject({ activity: "idle", runId: undefined });
    expect(faults).toContain(`hangs ${hook} abandoned`);
    expect(outline(events).filter((type) => type === "agent_settled")).toHaveLength(1);
    expect(await agent.input("again")).toBe("started");
    await agent.settled();
    await agent.dispose();
  },
);

const OUTSIDE: [what: string, build: (hang: () => Promise<never>) => Parameters<typeof createAgent>[0]][] = [
  [
    "a section of the prompt",
    (hang) => ({
      extensions: [scripted(), named("s", (pi) => void pi.register("section", "s", { slot: "rules", text: hang }))],
    }),
  ],
  [
    "the credentials",
    (hang) => ({ extensions: [scripted()], host: { credentials: { names: () => [], resolve: hang } } }),
  ],
  [
    "a provider_call handler's stream",
    (hang) => ({
      extensions: [
        scripted(),
        handles("c", "provider_call", async function* () {
          yield await hang();
        }),
      ],
    }),
  ],
];

test.each(OUTSIDE)("K9 F133: an abort while %s hangs settles after the grace period", async (_what, build) => {
  const hanging = gate();
  let hangs = 0;
  const options = build(() => {
    hangs++;
    hanging.open();
    return new Promise<never>(() => {});
  });
  const agent = createAgent({ ...options, graceMs: 5 });
  void agent.input("go").catch(() => {});
  await hanging.promise;
  await agent.abort();
  await agent.settled();
  expect(hangs).toBeGreaterThan(0);
  expect(agent.state).toMatchObject({ activity: "idle", runId: undefined });
});

test("K9: an abort while a handler waits in a dialog settles after the grace period, and the call is refused", async () => {
  const asked = gate();
  const asks = handles(
    "asks",
    "tool_call",
    async (_event: never, ctx: { ui: { confirm(a: string, b: string): Promise<boolean> } }) => {
      await ctx.ui.confirm("Sure?", "");
    },
  );
  const host = { ui: { confirm: () => (asked.open(), new Promise<boolean>(() => {})), notify: () => {} } as never };
  const agent = createAgent({
    extensions: [scripted(calls(["1", "a"])), tool("a", () => "ran"), asks],
    host,
    graceMs: 5,
  });
  await agent.input("go");
  await asked.promise;
  await agent.abort();
  expect(resultTexts(agent)["1"]).not.toBe("ran");
});
