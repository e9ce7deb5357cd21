/**
 * The values of a conversation: content blocks, messages, stream events, session entries, models.
 * Shapes are those of Pi's session format version 3, so that sessions carry over both ways.
 * Message timestamps are Unix milliseconds; entry timestamps are ISO 8601.
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

// ---------------------------------------------------------------- content blocks

export interface Text {
  type: "text";
  text: string;
  textSignature?: string;
}

export interface Image {
  type: "image";
  /** Base64. */
  data: string;
  mimeType: string;
}

export interface Thinking {
  type: "thinking";
  thinking: string;
  /** Opaque; sent back unchanged, and only to the model that made it. */
  thinkingSignature?: string;
  /** The readable text was withheld; the signature holds the encrypted payload. */
  redacted?: boolean;
}

export interface ToolCall {
  type: "toolCall";
  id: string;
  name: string;
  arguments: JsonObject;
  thoughtSignature?: string;
  /** Set, with empty `arguments`, when the complete argument text was not a JSON object. */
  argumentsError?: string;
}

export type UserContent = string | (Text | Image)[];

// ---------------------------------------------------------------- usage and failures

/** Tokens, and their price in US dollars. `reasoning` is part of `output`, `cacheWrite1h` part of `cacheWrite`. */
export interface Usage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  cacheWrite1h?: number;
  reasoning?: number;
  totalTokens: number;
  cost: {
    input: number;
    output: number;
    cacheRead: number;
    cacheWrite: number;
    total: number;
    totalFromProvider?: boolean;
  };
}

export type StopReason = "pending" | "stop" | "length" | "toolUse" | "error" | "aborted";

export type FailureKind =
  | "auth"
  | "quota"
  | "rate_limit"
  | "overloaded"
  | "server"
  | "network"
  | "timeout"
  | "context_overflow"
  | "invalid_request"
  | "content_filter"
  | "malformed_response"
  | "unknown";

/** Why a provider call failed, typed once by the provider, so that nobody has to read its text again. */
export interface Failure {
  kind: FailureKind;
  status?: number;
  retryAfterMs?: number;
}

// ---------------------------------------------------------------- messages

export interface UserMessage {
  role: "user";
  content: UserContent;
  timestamp: number;
}

export interface AssistantMessage {
  role: "assistant";
  content: (Text | Thinking | ToolCall)[];
  api: string;
  provider: string;
  model: string;
  responseModel?: string;
  responseId?: string;
  thinkingLevel?: ThinkingLevel;
  usage: Usage;
  stopReason: StopReason;
  /** The provider's own word for why it stopped. */
  rawStopReason?: string;
  errorMessage?: string;
  failure?: Failure;
  /** Blocks that are none of ours, verbatim, with their place in `content`; sent back only to the same api. */
  providerBlocks?: { index: number; block: Json }[];
  /** When the request was sent. */
  timestamp: number;
  durationMs?: number;
}

export interface ToolResultMessage {
  role: "toolResult";
  toolCallId: string;
  toolName: string;
  content: (Text | Image)[];
  details?: Json;
  usage?: Usage;
  isError: boolean;
  timestamp: number;
  durationMs?: number;
}

/** A message that an extension made. Providers send it as the user's. */
export interface CustomMessage {
  role: "custom";
  customType: string;
  content: UserContent;
  display: boolean;
  details?: Json;
  timestamp: number;
}

/** The roles that a provider sees. Packages add their own by declaration merging. */
export interface Roles {
  user: UserMessage;
  assistant: AssistantMessage;
  toolResult: ToolResultMessage;
  custom: CustomMessage;
}
export type Message = Roles[keyof Roles];

/**
 * A change of the system prompt or of the tool set, kept in the transcript only: providers get `systemPrompt` and
 * `tools`. When a session is loaded it restores the names of the active tools, never instructions.
 */
export interface SystemMessage {
  role: "system";
  content: string;
  sections?: Record<string, string | null>;
  toolsAdded?: ToolSchema[];
  toolsRemoved?: { name: string }[];
  timestamp: number;
}

/** A shell command that the person ran with `!`; `excludeFromContext` when with `!!`. */
export interface BashExecutionMessage {
  role: "bashExecution";
  command: string;
  output: string;
  exitCode?: number;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string;
  excludeFromContext?: boolean;
  timestamp: number;
}

/** What a model is told about a tool. `parameters` is JSON Schema. */
export interface ToolSchema {
  name: string;
  description: string;
  parameters: JsonObject;
}

// ---------------------------------------------------------------- stream events

/**
 * What a provider's stream yields, in arrays of what arrived together. First `start`, then blocks, each with its
 * `_start`, `_delta`s and `_end` and all with their place in `content`, then exactly one `done` or `error`.
 * `partial` is one live object that the provider goes on filling; the message of `done` or `error` is final.
 */
export type StreamEvent =
  | { type: "start"; partial: AssistantMessage }
  | { type: "text_start"; contentIndex: number }
  | { type: "text_delta"; contentIndex: number; delta: string }
  | { type: "text_end"; contentIndex: number; content: string }
  | { type: "thinking_start"; contentIndex: number }
  | { type: "thinking_delta"; contentIndex: number; delta: string }
  | { type: "thinking_end"; contentIndex: number; content: string }
  | { type: "toolcall_start"; contentIndex: number; id: string; toolName: string }
  | { type: "toolcall_delta"; contentIndex: number; delta: string }
  | { type: "toolcall_end"; contentIndex: number; toolCall: ToolCall }
  | { type: "done"; reason: "stop" | "length" | "toolUse"; message: AssistantMessage }
  | { type: "error"; reason: "aborted" | "error"; error: AssistantMessage };

// ---------------------------------------------------------------- session entries

interface EntryBase {
  /** Eight hexadecimal digits, unique in its session. */
  id: string;
  /** `null` for a root. */
  parentId: string | null;
  /** ISO 8601. */
  timestamp: string;
}

/** The fields of each entry type beside `type`, `id`, `parentId`, `timestamp`. */
export interface EntryTypes {
  message: { message: Message | SystemMessage | BashExecutionMessage };
  model_change: { provider: string; modelId: string };
  thinking_level_change: { thinkingLevel: ThinkingLevel };
  compaction: {
    summary: string;
    /** The first entry kept before the compaction; `null`, or one that is not found, keeps nothing. */
    firstKeptEntryId: string | null;
    tokensBefore: number;
    systemMessage?: SystemMessage;
    usage?: Usage;
    details?: Json;
    fromHook?: boolean;
  };
  branch_summary: { fromId: string; summary: string; usage?: Usage; details?: Json; fromHook?: boolean };
  context_edit: { targetId: string; replacement: null | { content: UserContent } };
  custom: { customType: string; data?: Json };
  custom_message: { customType: string; content: UserContent; display: boolean; details?: Json };
  label: { targetId: string; label?: string };
  session_info: { name: string };
  usage: { kind: string; provider: string; model: string; usage: Usage; note?: string };
}
export type EntryType = keyof EntryTypes;
export type Entry<T extends EntryType = EntryType> = { [K in T]: EntryBase & { type: K } & EntryTypes[K] }[T];
/** An entry that is not in the tree yet. */
export type Draft<T extends EntryType = EntryType> = { [K in T]: { type: K } & EntryTypes[K] }[T];

// ---------------------------------------------------------------- models

/** Prices are US dollars per million tokens. The fields are those of Pi's models.json. */
export interface Model {
  id: string;
  name: string;
  provider: string;
  api: string;
  baseUrl?: string;
  reasoning: boolean;
  /** A provider's word for each level; `null` where the model has no such level. */
  thinkingLevelMap?: Partial<Record<ThinkingLevel, string | null>>;
  input: ("text" | "image")[];
  cost: {
    input: number;
    output: number;
    cacheRead: number;
    cacheWrite: number;
    tiers?: {
      inputTokensAbove: number;
      input: number;
      output: number;
      cacheRead: number;
      cacheWrite: number;
    }[];
  };
  contextWindow: number;
  maxTokens: number;
  headers?: Record<string, string | null>;
  samplingParams?: JsonObject;
  /** What a compatible server does otherwise than the original, by the api's own keys. */
  compat?: JsonObject;
  inputLimits?: JsonObject;
}
