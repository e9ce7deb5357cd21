import { expect, test } from "vitest";
import { createAgent, type HookName, type ProviderRequest } from "../src/index.ts";
import { named, prompt } from "./named.ts";
import { assistant, calls, failure, record, scripted, type Turn, text, tool, whole } from "./scripted.ts";

/** What the contract gives a handler to change, or what is live by contract. */
const OPEN: Partial<Record<HookName, string[]>> = {
  context: ["messages"],
  before_provider_headers: ["headers"],
  before_provider_request: ["payload"],
  tool_call: ["input"],
  message_start: ["message"],
  message_update: ["message", "assistantMessageEvent"],
  after_provider_response: ["headers"],
  provider_stream_event: ["data"],
  // Proposals, previews and answers of the host are fresh for each look.
  session_select: ["flags"],
};

const HOOKS: HookName[] = [
  ...(["agent_start", "agent_end", "agent_settled", "turn_start", "message_start", "message_update"] as const),
  ...(["tool_execution_start", "tool_execution_update", "tool_execution_end", "model_select"] as const),
  ...(["thinking_level_select", "queue_update", "extension_error", "auto_retry_start", "auto_retry_end"] as const),
  ...(["transcript_append", "transcript_flush", "input", "before_agent_start", "before_turn", "context"] as const),
  ...(["message_end", "tool_result", "turn_end", "agent_before_settle", "tool_call", "provider_error"] as const),
];

/** Overwrites, empties and deletes whatever it can reach of an event. */
function vandalise(value: unknown, skip: readonly string[], depth = 0): void {
  if (typeof value !== "object" || value === null || depth > 6) return;
  for (const key of Object.keys(value)) {
    if (depth === 0 && (key === "type" || skip.includes(key))) continue;
    vandalise((value as Record<string, unknown>)[key], skip, depth + 1);
    if (depth === 0) continue;
    attempt(() => void ((value as Record<string, unknown>)[key] = "vandal"));
    attempt(() => void delete (value as Record<string, unknown>)[key]);
  }
  if (depth === 0) return;
  attempt(() => void ((value as Record<string, unknown>).vandal = true));
  if (Array.isArray(value)) attempt(() => void (value.length = 0));
}

function attempt(deed: () => void): void {
  try {
    deed();
  } catch {
    // It is frozen.
  }
}

const spoken: Turn = async function* () {
  const partial = assistant([{ type: "text", text: "x" }], { stopReason: "pending" });
  yield [
    { type: "start", partial },
    { type: "text_start", contentIndex: 0 },
  ];
  yield [{ type: "text_end", contentIndex: 0, content: "x" }, ...whole(text("x")).slice(1)];
};

async function perform(hook: HookName | undefined, deface: (event: object, skip: string[]) => void) {
  const provider = scripted(failure("server"), calls(["1", "a", { list: [{ n: 1 }] }], ["2", "ghost"]), spoken);
  const vandal = named("vandal", (pi) => {
    if (hook) pi.on(hook, ((event: object) => deface(event, OPEN[hook] ?? [])) as never);
  });
  let isFirst = true;
  const own = named("own", (pi) => {
    tool("a", (args, _signal, _ctx, onUpdate) => {
      onUpdate({ content: [{ type: "text", text: "half" }], details: { n: [1] } });
      agent.steer({ role: "user", content: [{ type: "text", text: "steered" }], timestamp: 1 });
      return { content: [{ type: "text", text: JSON.stringify(args) }], details: { deep: [{ n: 1 }] } };
    })(pi);
    pi.on("provider_error", () => {
      if (!isFirst) return;
      isFirst = false;
      return { retry: { delayMs: 0, reason: "busy" } };
    });
    pi.on("turn_end", ({ turnIndex }) =>
      turnIndex === 1 ? { entries: [{ type: "custom", customType: "x", data: { list: [{ n: 1 }] } }] } : undefined,
    );
  });
  const agent = createAgent({ systemPrompt: "P", extensions: [vandal, provider, own] });
  const events = record(agent);
  await agent.ready();
  agent.append([{ type: "custom_message", customType: "x", content: "before", display: true, details: { list: [1] } }]);
  await prompt(agent);
  agent.setThinkingLevel("low");
  const request = ({ messages, systemPrompt, tools, thinkingLevel }: ProviderRequest) => ({
    messages,
    systemPrompt,
    tools,
    thinkingLevel,
  });
  return strip({ entries: agent.transcript.path(), requests: provider.requests.map(request), events });
}

/** Leaves out what differs from run to run. */
function strip(value: unknown): unknown {
  const passing = new Set([
    "timestamp",
    "id",
    "parentId",
    "runId",
    "durationMs",
    "messageEntryId",
    "toolResultEntryIds",
  ]);
  return JSON.parse(JSON.stringify(value, (key, part: unknown) => (passing.has(key) && key !== "" ? undefined : part)));
}

test.each(HOOKS)(
  "E5: a handler of %s that defaces all it is given changes neither transcript, nor requests, nor what others hear",
  async (hook) => {
    const clean = await perform(undefined, () => {});
    const defaced = await perform(hook, vandalise);
    expect(defaced).toEqual(clean);
  },
);

test("E5: a handler's own array of messages is its own: the transcript keeps what it was", async () => {
  const provider = scripted(calls(["1", "a"]));
  const cutter = named("cutter", (pi) => {
    pi.on("context", ({ messages }) => {
      messages.reverse().length = 1;
    });
  });
  const agent = createAgent({ extensions: [provider, tool("a"), cutter] });
  await prompt(agent);
  expect(agent.transcript.project()).toHaveLength(4);
});

test("E5: what an extension is shown of tools, commands and sections is not the table itself", async () => {
  const agent = createAgent({
    extensions: [
      scripted(),
      tool("a"),
      named("vandal", (pi) => {
        pi.registerCommand("c", { handler: () => {} });
        pi.on("turn_start", () => {
          for (const list of [pi.getAllTools(), pi.getCommands(), pi.getActiveTools()])
            attempt(() => void (list.length = 0));
          attempt(() => void (pi.getAllTools()[0]!.name = "vandal"));
          attempt(() => void ((pi.owner as { name: string }).name = "host"));
        });
      }),
    ],
  });
  await prompt(agent);
  expect([...agent.registry("tool").keys()]).toEqual(["a"]);
  expect([...agent.registry("command").keys()]).toEqual(["c"]);
  expect(agent.registry("tool").get("a")?.name).toBe("a");
});
