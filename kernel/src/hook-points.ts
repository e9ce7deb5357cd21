/**
 * The kernel's own hook points: what each tells, and what a handler may answer.
 * A package adds its own by declaration merging into `HookPoints` and `pi.declareHook`.
 */

import type { Agent, Context, Outcome, ProviderRequest, ToolResult } from "./contract.ts";
import type { AgentError } from "./errors.ts";
import type {
  AssistantMessage,
  Draft,
  Entry,
  Image,
  Json,
  JsonObject,
  Message,
  Model,
  StreamEvent,
  Text,
  ThinkingLevel,
  ToolResultMessage,
  Usage,
} from "./messages.ts";

/**
 * How the handlers of a point combine.
 * notify: told in order, answers ignored · chain: each gets the last one's result · gate: first refusal wins, else the
 * last replacement · first: first answer wins · vote: all run, any no is no, else any yes is yes · around: wraps a call.
 */
export type Way = "notify" | "chain" | "gate" | "first" | "vote" | "around";

/** One point of the table: its way, the event without `type`, and what a handler may answer. */
export interface Point<W extends Way, E, R = void> {
  way: W;
  event: E;
  result: R;
}

interface InRun {
  /** UUID version 7. */
  runId: string;
}
interface InTurn extends InRun {
  /** From 0. */
  turnIndex: number;
}
interface ToolEvent extends InTurn {
  toolCallId: string;
  toolName: string;
}

interface UiPrompt {
  reason: "ui_prompt";
  kind: "select" | "confirm" | "input" | "editor" | "custom";
  title?: string;
}

/** What the handlers before this one propose at a boundary. */
interface Proposal {
  outcome: Outcome;
  entries: readonly Draft[];
  continue?: boolean;
  /** What the model would be sent if nothing more were added; made when somebody looks. */
  readonly context: { messages: readonly Message[]; pendingMessages: readonly Message[]; canContinue: boolean };
}

/** What a boundary handler may add to the transcript. Drafts are checked together, and appended all or none. */
export interface BoundaryResult {
  entries?: Draft[];
}

export interface HookPoints {
  agent_start: Point<"notify", InRun>;
  agent_end: Point<"notify", InRun & { outcome: Outcome; messages: readonly Message[]; willRetry: boolean }>;
  agent_settled: Point<"notify", InRun & { outcome: Outcome; aborted: boolean }>;
  turn_start: Point<"notify", InTurn & { timestamp: number }>;
  message_start: Point<"notify", InTurn & { message: Message }>;
  /** `message` is the live partial answer. */
  message_update: Point<"notify", InTurn & { message: AssistantMessage; assistantMessageEvent: StreamEvent }>;
  tool_execution_start: Point<"notify", ToolEvent & { args: JsonObject }>;
  tool_execution_update: Point<"notify", ToolEvent & { args: JsonObject; partialResult: ToolResult }>;
  /** `durationMs` is absent when the tool never ran. */
  tool_execution_end: Point<"notify", ToolEvent & { result: ToolResult; isError: boolean; durationMs?: number }>;
  session_start: Point<
    "notify",
    { reason: "startup" | "reload" | "new" | "resume" | "fork"; previousSessionFile?: string }
  >;
  session_shutdown: Point<
    "notify",
    { reason: "quit" | "reload" | "new" | "resume" | "fork"; targetSessionFile?: string }
  >;
  /** Before anything runs in a child. It has none of its parent's extensions: listen to it with `child.on`. */
  child_created: Point<"notify", { child: Agent; parentRunId?: string }>;
  session_info_changed: Point<"notify", { name?: string }>;
  /** Around the questions to a person that overlap: the first begins it, the last ends it. */
  ui_prompt_start: Point<"notify", UiPrompt>;
  ui_prompt_end: Point<"notify", UiPrompt>;
  model_select: Point<"notify", { model: Model; previousModel?: Model; source: "set" | "cycle" }>;
  thinking_level_select: Point<"notify", { level: ThinkingLevel; previousLevel: ThinkingLevel }>;
  resources_changed: Point<"notify", { reason: "grant" | "reload" | "revocation" }>;
  queue_update: Point<"notify", { steering: readonly Message[]; followUp: readonly Message[] }>;
  extension_error: Point<
    "notify",
    { owner: string; extensionPath?: string; event: string; error: string; code: string }
  >;
  /** An error with an owner that nobody awaited, or that had no better place to go. */
  fault: Point<"notify", { owner: string; error: AgentError }>;
  auto_retry_start: Point<"notify", { attempt: number; maxAttempts: number; delayMs: number; errorMessage: string }>;
  auto_retry_end: Point<"notify", { success: boolean; attempt: number; finalError?: string }>;
  after_provider_response: Point<"notify", InTurn & { status: number; headers: Headers }>;
  /** An event of the wire as the provider sent it, before it is understood. Read it, do not change it. */
  provider_stream_event: Point<"notify", InTurn & { provider: string; api: string; model: string; data: unknown }>;
  /** Synchronous: a handler may only queue. */
  transcript_append: Point<"notify", { entry: Entry }>;
  /** Awaited before each provider call, and when a run settles: what was appended must be where it is kept. */
  transcript_flush: Point<"notify", { reason: "turn" | "settled" | "dispose" }>;

  input: Point<
    "chain",
    {
      text: string;
      images?: Image[];
      source: "interactive" | "rpc" | "extension";
      whileRunning?: "steer" | "followUp";
    },
    { action: "continue" } | { action: "transform"; text: string; images?: Image[] } | { action: "handled" }
  >;
  before_agent_start: Point<
    "chain",
    { prompt: string; images?: Image[]; readonly systemPrompt: string },
    {
      message?: { customType: string; content: string | (Text | Image)[]; display: boolean; details?: Json };
      /** Replaces the whole prompt for this run; not recorded in the transcript. */
      systemPrompt?: string;
    }
  >;
  before_turn: Point<
    "chain",
    InTurn & { model: Model; contextTokens: number },
    BoundaryResult & { model?: Model; thinkingLevel?: ThinkingLevel; activeTools?: string[] }
  >;
  /** `messages` is an array of the handler's own, of frozen messages: sort it, cut it, or return another. */
  context: Point<"chain", InTurn & { messages: Message[] }, { messages: Message[] }>;
  /** `headers` is the handler's to change; `null` removes one. */
  before_provider_headers: Point<"chain", InTurn & { headers: Record<string, string | null> }>;
  /** Anything but `undefined` replaces the payload. */
  before_provider_request: Point<"chain", InTurn & { payload: unknown }, unknown>;
  message_end: Point<"chain", InTurn & { message: Message }, { message: Message }>;
  tool_result: Point<
    "chain",
    ToolEvent & {
      input: JsonObject;
      content: (Text | Image)[];
      details?: Json;
      isError: boolean;
      usage?: Usage;
    },
    { content?: (Text | Image)[]; details?: Json; isError?: boolean; usage?: Usage; terminate?: boolean }
  >;
  turn_end: Point<
    "chain",
    InTurn &
      Proposal & {
        message: AssistantMessage;
        messageEntryId: string;
        toolResults: readonly ToolResultMessage[];
        toolResultEntryIds: readonly string[];
      },
    BoundaryResult & { continue?: boolean; stop?: boolean }
  >;
  agent_before_settle: Point<"chain", InRun & Proposal, BoundaryResult & { continue?: boolean }>;

  /** `input` holds validated arguments, the handler's to change: they are validated again. */
  tool_call: Point<
    "gate",
    ToolEvent & { input: JsonObject; touches?: { read: string[]; write: string[] } },
    { block?: boolean; reason?: string; terminate?: boolean }
  >;

  provider_error: Point<
    "first",
    InTurn & { message: AssistantMessage; attempt: number },
    { retry: { delayMs: number; reason: string; maxAttempts?: number; entries?: Draft[] } } | { stop: true }
  >;
  session_select: Point<
    "first",
    { flags: ReadonlyMap<string, unknown> },
    { id: string; cwd: string; entries: readonly Entry[] }
  >;

  /** Wraps a provider call, in the loop or by `pi.complete`: record it, answer it from a cache, refuse it. */
  provider_call: Point<"around", ProviderRequest, AsyncIterable<readonly StreamEvent[]>>;
}

export type HookName = keyof HookPoints;
export type HookEvent<N extends HookName> =
  HookPoints[N] extends Point<"around", infer E, unknown> ? E : HookPoints[N]["event"] & { readonly type: N };
export type HookResult<N extends HookName> = HookPoints[N]["result"];

/** A handler of point `N`: knows its event, its answer and, for `around` points, the call it wraps. */
export type Handler<N extends HookName> =
  HookPoints[N] extends Point<"around", infer E, infer R>
    ? (request: E, next: (request: E) => R, ctx: Context) => R
    : (
        event: HookEvent<N>,
        ctx: Context,
      ) => HookResult<N> | void | undefined | Promise<HookResult<N> | void | undefined>;
