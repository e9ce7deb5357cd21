/** Plays a random run on a real agent, and tells all that is to be judged of it. */
import type {
  Agent,
  AssistantMessage,
  Context,
  ExtensionAPI,
  Message,
  ProviderRequest,
  Queue,
  StreamEvent,
  ToolCall,
} from "@pi-agent/kernel";
import { createAgent } from "@pi-agent/kernel";
import { type OrderedEvent, recordEvents, SCRIPTED_MODEL } from "@pi-agent/testing";
import { assistantMessage } from "@pi-agent/testing/provider";
import { type Deed, HOOKS, type HookMode, type PlannedCall, type PlannedTurn, type Scenario } from "./scenario.ts";

export interface Played {
  agent: Agent;
  events: readonly OrderedEvent[];
  /** What each provider request held when it was sent. */
  requests: readonly (readonly Message[])[];
  /** How often each queued text was found: in the transcript, given back, or still waiting. */
  found: ReadonlyMap<string, number>;
}

/** What a hook, a tool or a stream may answer that nobody can use. */
export const RUBBISH: readonly unknown[] = [
  undefined,
  null,
  7,
  "text",
  [],
  {},
  { content: "x" },
  { content: [{ type: "video" }] },
  { messages: "all" },
  { message: { role: "nobody" } },
  { entries: [{ type: "message" }] },
  { retry: { delayMs: "soon" } },
  { activeTools: 7, model: 7, thinkingLevel: 7 },
  { block: true, reason: 7 },
  { action: "transform", text: 7 },
  { content: [], details: () => {} },
  { type: "done" },
];

const tick = () => new Promise<void>((resolve) => void setImmediate(resolve));
const ticks = async (count: number) => {
  for (let i = 0; i < count; i++) await tick();
};

/** A fault shows as a run that does not settle: so long the play waits before it aborts, in turns of the event loop. */
const PATIENCE = 40;

export async function play(scenario: Scenario): Promise<Played> {
  const stage = createStage(scenario);
  const { agent } = stage;
  const recorded = recordEvents(agent);
  await stage.prompt();
  await stage.untilSettled();
  for (const step of scenario.afterwards) {
    if (step === "continue") stage.keep(agent.continue().catch(refusedOnly("cannot_continue", "busy")));
    else if (step === "prompt") await stage.prompt();
    else if (step === "abort") stage.abort();
    else stage.queue("steer");
    await stage.untilSettled();
  }
  stage.close();
  await stage.untilSettled();
  return { agent, events: recorded.events, requests: stage.requests, found: stage.count() };
}

/** Sends one more prompt to an agent that has been through a play, and answers how it went. */
export async function playOn(agent: Agent): Promise<string | undefined> {
  agent.clearQueue();
  await agent.input("one more");
  await agent.settled();
  const last = agent.transcript.project().at(-1);
  return last?.role === "assistant" && last.content[0]?.type === "text" ? last.content[0].text : undefined;
}

function createStage(scenario: Scenario) {
  const requests: (readonly Message[])[] = [];
  const returned: Queue[] = [];
  /** Prompts that were told that they were aborted before their run began. */
  const refused: string[] = [];
  const queued: string[] = [];
  const pending: Promise<unknown>[] = [];
  let ctx: Context | undefined;
  let api: ExtensionAPI | undefined;
  let moments = 0;
  let isOpen = true;

  let named = 0;
  const nameNext = () => `message ${++named}`;
  const keep = (work: Promise<unknown>) => void pending.push(work);
  const abort = () => keep(agent.abort().then((queue) => returned.push(queue)));
  const queue = (how: "steer" | "followUp") => {
    const text = nameNext();
    queued.push(text);
    agent[how](text);
  };
  const prompt = async (how: "steer" | "followUp" = "steer") => {
    const text = nameNext();
    queued.push(text);
    await agent.input(text, { whileRunning: how }).catch((error: { code?: string }) => {
      // An abort gives back what had not begun.
      if (error.code !== "aborted") throw error;
      refused.push(text);
    });
  };
  const deeds: Record<Deed["what"], () => void> = {
    abort,
    "ctx.abort": () => ctx?.abort(),
    steer: () => queue("steer"),
    followUp: () => queue("followUp"),
    input: () => keep(prompt("steer")),
    "input later": () => keep(prompt("followUp")),
    clear: () => void returned.push(agent.clearQueue()),
    continue: () => keep(agent.continue().catch(refusedOnly("cannot_continue", "busy"))),
    exclusive: () => ctx && keep(ctx.exclusive("compacting", () => ticks(3)).catch(refusedOnly("abandoned"))),
    register: () => void api?.registerTool(toolOf(`late${moments}`, false)),
    deactivate: () => agent.setActiveTools(["parallel"]),
  };
  const moment = () => {
    moments++;
    if (isOpen) for (const { at, what } of scenario.deeds) if (at === moments) deeds[what]();
  };
  const extension = (pi: ExtensionAPI) => {
    api = pi;
    registerProvider(pi, (request) => {
      requests.push([...request.messages]);
      return isOpen ? scenario.turns[requests.length - 1] : undefined;
    });
    pi.registerTool(toolOf("parallel", false));
    pi.registerTool(toolOf("sequential", true));
    for (const name of HOOKS) {
      pi.on(name, ((event: object, context: Context) => {
        ctx = context;
        moment();
        return isOpen ? answerOf(name, scenario.hooks[name] ?? "off", { event, moments }) : undefined;
      }) as never);
    }
  };
  const { maxTurns, steeringMode, followUpMode } = scenario;
  const host = { ui: { notify: () => {} } as never };
  const agent = createAgent({ extensions: [extension], maxTurns, steeringMode, followUpMode, graceMs: 1, host });
  const untilSettled = async () => {
    for (let settled = 0, patience = PATIENCE; settled < 2; patience--) {
      const before = moments;
      await ticks(2);
      settled = agent.state.activity === "idle" && before === moments ? settled + 1 : 0;
      if (patience === 0 && agent.state.runId) {
        abort();
        patience = PATIENCE * 10;
      }
      if (patience < -5_000) throw new Error(`The run did not settle: ${JSON.stringify(agent.state.activity)}`);
    }
    await Promise.all(pending);
    await agent.settled();
  };
  const count = () => {
    const texts = [
      ...agent.transcript.path().map((entry) => (entry.type === "message" ? entry.message : undefined)),
      ...[...returned, agent.queue].flatMap(({ steering, followUp }) => [...steering, ...followUp]),
    ].map((message) => (message?.role === "user" ? message.content : undefined));
    texts.push(...refused);
    return new Map(queued.map((text) => [text, texts.filter((each) => each === text).length]));
  };
  const close = () => {
    isOpen = false;
  };
  return { agent, requests, keep, abort, queue, prompt, untilSettled, count, close };
}

function refusedOnly(...codes: string[]) {
  return (error: unknown) => {
    if (!codes.includes((error as { code: string }).code)) throw error;
  };
}

function answerOf(name: string, mode: HookMode, at: { event: object; moments: number }): unknown {
  if (mode === "throw") throw new Error(`${name} threw`);
  if (mode === "reject") return Promise.reject(new Error(`${name} rejected`));
  if (mode === "slow") return tick();
  if (mode === "rubbish") return RUBBISH[at.moments % RUBBISH.length];
  if (mode === "answer") return GOOD[name]?.(at.event as never, at.moments);
  return undefined;
}

const GOOD: Record<string, (event: never, moments: number) => unknown> = {
  before_agent_start: () => ({ message: { customType: "note", content: "n", display: false } }),
  before_turn: () => ({ entries: [{ type: "custom_message", customType: "note", content: "n", display: false }] }),
  context: ({ messages }: { messages: Message[] }) => ({ messages: [...messages] }),
  message_end: ({ message }: { message: Message }) => ({ message }),
  tool_call: ({ toolCallId }: { toolCallId: string }) => (toolCallId === "b" ? { block: true, terminate: true } : {}),
  tool_result: () => ({ content: [{ type: "text", text: "changed" }] }),
  turn_end: ({ turnIndex }: { turnIndex: number }) => ({ continue: turnIndex < 3, entries: [] }),
  agent_before_settle: (_event: never, moments) => ({ continue: moments < 40 }),
  provider_error: ({ attempt }: { attempt: number }) =>
    attempt < 3 ? { retry: { delayMs: 1, reason: "again" } } : { stop: true },
};

function toolOf(name: string, isSequential: boolean) {
  return {
    name,
    description: `The tool ${name}.`,
    parameters: {
      type: "object",
      properties: { ends: { type: "string" }, ticks: { type: "integer" } },
      required: ["ends", "ticks"],
    } as never,
    executionMode: isSequential ? ("sequential" as const) : ("parallel" as const),
    async execute(_id: string, args: unknown, signal: AbortSignal, onUpdate: (partial: never) => void) {
      const { ends, ticks: count } = args as Pick<PlannedCall, "ends" | "ticks">;
      if (ends === "throw") throw new Error("threw");
      await ticks(count);
      if (ends === "reject") throw "a string";
      if (ends === "rubbish") return RUBBISH[count * 3] as never;
      if (ends === "update") onUpdate({ content: [] } as never);
      if (ends === "never") await new Promise(() => {});
      if (ends === "obey" || ends === "late") await untilAborted(signal);
      if (ends === "late") await tick().then(() => Promise.reject(new Error("late")));
      return { content: [{ type: "text" as const, text: ends }], terminate: ends === "terminate" };
    },
  };
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function registerProvider(pi: ExtensionAPI, next: (request: ProviderRequest) => PlannedTurn | undefined): void {
  pi.registerProvider({ id: "scripted", api: "scripted", models: [SCRIPTED_MODEL], env: [] });
  pi.register("api", "scripted", {
    stream(request) {
      const turn = next(request) ?? { kind: "text" };
      if (turn.kind === "throws") throw thrown(turn.what);
      return perform(turn, request);
    },
  });
}

function thrown(what: number): unknown {
  return [new Error("boom"), "a string", undefined, null, { code: 7 }][what % 5];
}

async function* perform(turn: PlannedTurn, request: ProviderRequest): AsyncGenerator<readonly StreamEvent[]> {
  const { kind } = turn;
  if (kind === "mute") return;
  if (kind === "rubbish") {
    yield RUBBISH[turn.what] as never;
    yield [RUBBISH[turn.what + 2]] as never;
    return;
  }
  const message = assistantMessage(request.model, [], { stopReason: "pending" });
  yield [{ type: "start", partial: message }];
  yield* speak(message);
  if (kind === "throws late") throw thrown(turn.what);
  if (kind === "hang") await untilAborted(request.signal);
  if (kind === "deaf") await new Promise(() => {});
  if ("calls" in turn) for (const call of turn.calls) yield* ask(message, call);
  if (kind === "cut" || kind === "cut calls" || kind === "hang") return;
  yield [lastOf(turn, message)];
  if (kind === "talks on") yield [{ type: "text_delta", contentIndex: 0, delta: "more" }];
  if (kind === "ends twice") yield [lastOf({ kind: "failure" }, structuredClone(message))];
}

function* speak(message: AssistantMessage): Generator<readonly StreamEvent[]> {
  message.content.push({ type: "text", text: "Well." });
  yield [
    { type: "text_start", contentIndex: 0 },
    { type: "text_delta", contentIndex: 0, delta: "Well." },
  ];
  yield [{ type: "text_end", contentIndex: 0, content: "Well." }];
}

function* ask(message: AssistantMessage, planned: PlannedCall): Generator<readonly StreamEvent[]> {
  const { tool, id, args, ends, ticks: count } = planned;
  const toolCall: ToolCall = { type: "toolCall", id, name: tool, arguments: {} };
  if (args === "fit") toolCall.arguments = { ends, ticks: count };
  if (args === "bend") toolCall.arguments = { ends, ticks: String(count) };
  if (args === "misfit") toolCall.arguments = { ends: {}, ticks: "many" };
  if (args === "broken") toolCall.argumentsError = 'The arguments are not a JSON object: {"ends":';
  const contentIndex = message.content.push(toolCall) - 1;
  yield [
    { type: "toolcall_start", contentIndex, id, toolName: tool },
    { type: "toolcall_delta", contentIndex, delta: "{" },
    { type: "toolcall_end", contentIndex, toolCall },
  ];
}

function lastOf(turn: PlannedTurn, message: AssistantMessage): StreamEvent {
  const { kind } = turn;
  if (kind === "failure" || kind === "failed calls") {
    const failure = { stopReason: "error" as const, failure: { kind: "overloaded" as const }, errorMessage: "busy" };
    return { type: "error", reason: "error", error: Object.assign(message, failure) };
  }
  const hasCalls = message.content.some((block) => block.type === "toolCall");
  const reason = kind === "length" ? "length" : hasCalls ? "toolUse" : "stop";
  message.stopReason = reason;
  message.rawStopReason = kind === "pause" ? "pause_turn" : reason;
  return { type: "done", reason, message };
}
