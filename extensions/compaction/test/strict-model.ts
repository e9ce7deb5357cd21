import type {
  AssistantMessage,
  Extension,
  FailureKind,
  JsonObject,
  Model,
  ProviderRequest,
  StopReason,
  StreamEvent,
} from "@pi-agent/kernel";
import { listStrictProblems, SCRIPTED_MODEL } from "@pi-agent/testing";
import { assistantMessage, usageOf } from "@pi-agent/testing/provider";

export interface Answer {
  text?: string;
  thinking?: string;
  calls?: { id: string; name: string; arguments?: JsonObject }[];
  stop?: StopReason;
  fail?: FailureKind;
  /** Left out: what the request is measured to have. */
  usage?: Partial<AssistantMessage["usage"]>;
  /** Never ends, and does not listen to an abort either. */
  isDeaf?: boolean;
  /** Waits for it before it answers. */
  after?: Promise<unknown>;
}

const SUMMARY = "## Goal\nFinish the work.\n\n## Progress\n### Done\n- [x] All so far.";

export interface StrictModel {
  extension: Extension;
  model: Model;
  requests: ProviderRequest[];
  /** Those of the loop. */
  turns(): ProviderRequest[];
  /** Those for summaries. */
  summaries(): ProviderRequest[];
  /** What was wrong with requests, beside their length. */
  problems: string[];
}

export interface StrictOptions {
  window: number;
  maxTokens?: number;
  id?: string;
  /** Answers a request of the loop; `at` counts those that were not refused. */
  turn?: (at: number, request: ProviderRequest) => Answer;
  /** Answers a request for a summary. */
  summary?: (at: number, request: ProviderRequest) => Answer;
  /** Takes requests of any length, and says what they have. */
  takesAll?: boolean;
}

/** A model that refuses what a strict provider refuses, and every request that does not fit its window. */
export function strictModel(options: StrictOptions): StrictModel {
  const { window, maxTokens = 2_000, id = "strict", takesAll = false } = options;
  const { turn = () => ({ text: "done" }), summary = () => ({ text: SUMMARY }) } = options;
  const model = { ...SCRIPTED_MODEL, id, provider: id, api: id, contextWindow: window, maxTokens, reasoning: false };
  const requests: ProviderRequest[] = [];
  const problems: string[] = [];
  let turns = 0;
  let summaries = 0;

  function answer(request: ProviderRequest): Answer {
    if (measure(request) > window && !takesAll) return { fail: "context_overflow" };
    return request.purpose === "turn" ? turn(turns++, request) : summary(summaries++, request);
  }

  const extension: Extension = (pi) => {
    pi.register("api", id, {
      async *stream(request) {
        requests.push({ ...request, messages: [...request.messages] });
        problems.push(...listStrictProblems(request.messages));
        const given = answer(request);
        await given.after;
        if (given.isDeaf) await new Promise(() => {});
        const message = toMessage(model, request, given);
        yield [{ type: "start", partial: message }, endOf(message)];
      },
    });
    pi.registerProvider({ id, api: id, models: [model], env: [] });
  };
  return {
    extension,
    model,
    requests,
    problems,
    turns: () => requests.filter(({ purpose }) => purpose === "turn"),
    summaries: () => requests.filter(({ purpose }) => purpose !== "turn"),
  };
}

/** Counts a request as the kernel's estimate does, prompt and tools included. */
export function measure({ messages, systemPrompt, tools }: ProviderRequest): number {
  let chars = systemPrompt.length + (tools.length > 0 ? JSON.stringify(tools).length : 0);
  for (const { content } of messages) {
    if (typeof content === "string") chars += content.length;
    else for (const block of content) chars += sizeOf(block);
  }
  return Math.ceil(chars / 4);
}

function sizeOf(block: Exclude<ProviderRequest["messages"][number]["content"], string>[number]): number {
  if (block.type === "text") return block.text.length;
  if (block.type === "image") return 4_800;
  if (block.type === "thinking") return block.thinking.length;
  return block.name.length + JSON.stringify(block.arguments).length;
}

/** What a request for a summary asks. */
export function askedIn({ messages }: Pick<ProviderRequest, "messages">): string {
  const [message] = messages;
  return typeof message?.content === "string" ? message.content : "";
}

function toMessage(model: Model, request: ProviderRequest, given: Answer): AssistantMessage {
  const { text, thinking, calls = [], fail, usage } = given;
  const content: AssistantMessage["content"] = [];
  if (thinking !== undefined) content.push({ type: "thinking", thinking });
  if (text !== undefined) content.push({ type: "text", text });
  for (const call of calls) content.push({ type: "toolCall", arguments: {}, ...call });
  const input = measure(request);
  const output = Math.ceil((text ?? "").length / 4) + 1;
  const counted = usageOf({ input, output, totalTokens: input + output, ...usage });
  const stopReason = fail ? "error" : (given.stop ?? (calls.length > 0 ? "toolUse" : "stop"));
  return assistantMessage(model, content, {
    stopReason,
    usage: fail ? usageOf({}) : counted,
    ...(fail && { failure: { kind: fail }, errorMessage: `strict: ${fail}` }),
    ...(stopReason === "aborted" && { errorMessage: "aborted" }),
  });
}

function endOf(message: AssistantMessage): StreamEvent {
  const { stopReason } = message;
  if (stopReason === "error" || stopReason === "aborted") return { type: "error", reason: stopReason, error: message };
  return { type: "done", reason: stopReason as "stop", message };
}
