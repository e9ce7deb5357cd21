import type {
  Agent,
  AgentEvent,
  AssistantMessage,
  Context,
  ExtensionAPI,
  JsonObject,
  Model,
  ProviderRequest,
  StreamEvent,
  Tool,
  ToolResult,
} from "../src/index.ts";

export const model: Model = {
  id: "scripted",
  name: "Scripted",
  provider: "scripted",
  api: "scripted",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 100_000,
  maxTokens: 1_000,
};

export function assistant(
  content: AssistantMessage["content"],
  more: Partial<AssistantMessage> = {},
): AssistantMessage {
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2 };
  return {
    role: "assistant",
    content,
    api: "scripted",
    provider: "scripted",
    model: "scripted",
    usage: { ...usage, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
    stopReason: content.some((block) => block.type === "toolCall") ? "toolUse" : "stop",
    timestamp: 1,
    ...more,
  };
}

export function text(answer: string, more: Partial<AssistantMessage> = {}): AssistantMessage {
  return assistant([{ type: "text", text: answer }], more);
}

/** An answer with one call for each `[id, name, arguments]`. */
export function calls(...list: [id: string, name: string, args?: JsonObject][]): AssistantMessage {
  return assistant(list.map(([id, name, args = {}]) => ({ type: "toolCall", id, name, arguments: args })));
}

export function failure(kind: NonNullable<AssistantMessage["failure"]>["kind"]): AssistantMessage {
  return text("", { stopReason: "error", errorMessage: `failed with ${kind}`, failure: { kind } });
}

export type Turn =
  | AssistantMessage
  | ((request: ProviderRequest) => AssistantMessage | AsyncIterable<readonly StreamEvent[]>);

export interface Script {
  (pi: ExtensionAPI): void;
  requests: ProviderRequest[];
}

/** A provider that answers with one turn after the other, and "done" when they are used up. */
export function scripted(...turns: Turn[]): Script {
  const requests: ProviderRequest[] = [];
  const extension = (pi: ExtensionAPI) => {
    pi.registerProvider({ id: "scripted", api: "scripted", models: [model], env: [] });
    pi.register("api", "scripted", {
      async *stream(request) {
        // The array grows with the transcript: what was sent is what it holds now.
        requests.push({ ...request, messages: [...request.messages] });
        const turn = turns[requests.length - 1] ?? text("done");
        const answer = typeof turn === "function" ? turn(request) : structuredClone(turn);
        if ("role" in answer) yield whole(answer);
        else yield* answer;
      },
    });
  };
  return Object.assign(extension, { requests });
}

export function whole(message: AssistantMessage): StreamEvent[] {
  const last: StreamEvent =
    message.stopReason === "error" || message.stopReason === "aborted"
      ? { type: "error", reason: message.stopReason, error: message }
      : { type: "done", reason: message.stopReason as "stop", message };
  return [{ type: "start", partial: message }, last];
}

/** A tool that answers with its arguments, or does what it is given to do. */
export function tool(
  name: string,
  run?: (args: JsonObject, signal: AbortSignal, ctx: Context, onUpdate: (partial: ToolResult) => void) => unknown,
  more: Partial<Tool> = {},
): (pi: ExtensionAPI) => void {
  return (pi) => {
    pi.registerTool({
      name,
      description: `The tool ${name}.`,
      parameters: { type: "object", properties: {} } as never,
      async execute(_id, args, signal, onUpdate, ctx) {
        const answer = run ? await run(args as JsonObject, signal, ctx, onUpdate) : JSON.stringify(args);
        if (typeof answer !== "string") return answer as ToolResult;
        return { content: [{ type: "text", text: answer }] };
      },
      ...more,
    });
  };
}

/** Every wire event of an agent, as it came. */
export function record(agent: Agent): AgentEvent[] {
  const events: AgentEvent[] = [];
  agent.onWire((event) => void events.push({ ...event } as AgentEvent));
  return events;
}

/** The types of events, with what tells them apart. */
export function outline(events: readonly AgentEvent[]): string[] {
  return events.map((event) => {
    const { type, message, toolCallId } = event as { type: string; message?: { role: string }; toolCallId?: string };
    const isMessage = type === "message_start" || type === "message_end";
    return [type, isMessage ? message?.role : toolCallId].filter(Boolean).join(" ");
  });
}

/** The texts of the tool results in an agent's transcript, by call id. */
export function resultTexts(agent: Agent): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const message of agent.transcript.project()) {
    if (message.role !== "toolResult") continue;
    texts[message.toolCallId] = message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  }
  return texts;
}

/** A promise that somebody else settles. */
export function gate<T = void>(): { promise: Promise<T>; open(value: T): void } {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { promise, open: resolve };
}
