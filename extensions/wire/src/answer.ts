/**
 * One streamed answer: the live message, and the stream events of the current batch.
 *
 *   start ─► text · thinking · toolCall … end ─► done | fail | abort
 */
import type {
  AssistantMessage,
  Failure,
  Json,
  Message,
  ProviderRequest,
  StreamEvent,
  Text,
  Thinking,
  ToolCall,
  Usage,
} from "@pi-agent/kernel";
import { type Cut, parseArguments } from "./arguments.ts";
import { failureError } from "./failure.ts";
import { createFold } from "./fold.ts";
import { emptyUsage, priceUsage } from "./usage.ts";

/** Characters of one answer; the longest that a model gives is below a million. */
const MAX_ANSWER_CHARS = 64_000_000;
/** What a block counts for beside its text. */
const BLOCK_CHARS = 100;

/** What a block is called on the wire. The key is free again once the block has ended. */
export type BlockKey = string | number;

interface Open<B = Text | Thinking | ToolCall> {
  index: number;
  block: B;
  /** The argument text of a call. */
  raw: string;
}

/** Starts an answer to `request`; its clock runs from here. */
export function createAnswer(request: ProviderRequest, api: string): Answer {
  return new Answer(request, api);
}

export class Answer {
  /** Live. `responseId`, `responseModel` and the like are the provider's to set. */
  readonly message: AssistantMessage;
  isStarted = false;
  isEnded = false;
  #request: ProviderRequest;
  #startedMs = performance.now();
  #open = new Map<BlockKey, Open>();
  #batch: StreamEvent[] = [];
  #chars = 0;
  #usedIds: UsedIds | undefined;

  constructor(request: ProviderRequest, api: string) {
    const { provider, id: model } = request.model;
    this.#request = request;
    this.message = {
      role: "assistant",
      content: [],
      api,
      provider,
      model,
      thinkingLevel: request.thinkingLevel,
      usage: emptyUsage(),
      stopReason: "pending",
      timestamp: Date.now(),
    };
  }

  start(): void {
    if (this.isStarted) return;
    this.isStarted = true;
    this.#batch.push({ type: "start", partial: this.message });
  }

  /** Appends, and opens the block first when none is open under that key. */
  text(key: BlockKey, delta: string): void {
    const at = this.#open.get(key) ?? this.#add(key, { type: "text", text: "" });
    if (at.block.type !== "text") throw mixedUp(key);
    if (delta === "") return;
    this.#grow(delta.length);
    at.block.text += delta;
    this.#batch.push({ type: "text_delta", contentIndex: at.index, delta });
  }

  /** As `text`, for thinking. */
  thinking(key: BlockKey, delta: string): void {
    const at = this.#open.get(key) ?? this.#add(key, { type: "thinking", thinking: "" });
    if (at.block.type !== "thinking") throw mixedUp(key);
    if (delta === "") return;
    this.#grow(delta.length);
    at.block.thinking += delta;
    this.#batch.push({ type: "thinking_delta", contentIndex: at.index, delta });
  }

  /** Opens a thinking block whose text is withheld; `signature` is its encrypted content. */
  redactedThinking(key: BlockKey, signature: string): void {
    this.#add(key, { type: "thinking", thinking: "", thinkingSignature: signature, redacted: true });
  }

  /** Opens a call; one without a name is malformed. An id that is missing, or that the conversation has used before, is made unique. */
  toolCall(key: BlockKey, call: { id?: string | null; name: string }): void {
    // Services have sent `null` and numbers: stored, they make every later request of the session fail.
    if (typeof call.name !== "string" || call.name === "") throw malformed("the answer has a tool call without a name");
    this.#add(key, { type: "toolCall", id: this.#uniqueId(call.id), name: call.name, arguments: {} });
  }

  toolArguments(key: BlockKey, delta: string): void {
    const at = this.#need(key);
    if (at.block.type !== "toolCall") throw mixedUp(key);
    if (delta === "") return;
    this.#grow(delta.length);
    at.raw += delta;
    this.#batch.push({ type: "toolcall_delta", contentIndex: at.index, delta });
  }

  /** Replaces the argument text of an open call: for services that tell the whole text again at its end. */
  setArguments(key: BlockKey, text: string): void {
    const at = this.#need(key);
    if (text.startsWith(at.raw)) this.toolArguments(key, text.slice(at.raw.length));
    else {
      this.#grow(text.length);
      at.raw = text;
    }
  }

  /** The block that is open under a key. */
  opened(key: BlockKey): Text | Thinking | ToolCall | undefined {
    return this.#open.get(key)?.block;
  }

  /** Appends to the signature of an open block, of whichever kind it is. */
  sign(key: BlockKey, signature: string): void {
    const { block } = this.#need(key);
    this.#grow(signature.length);
    if (block.type === "text") block.textSignature = (block.textSignature ?? "") + signature;
    else if (block.type === "thinking") block.thinkingSignature = (block.thinkingSignature ?? "") + signature;
    else block.thoughtSignature = (block.thoughtSignature ?? "") + signature;
  }

  /** Ends one block as complete. */
  end(key: BlockKey): void {
    this.#close(key, "no");
  }

  /** Keeps a block that is none of ours, at its place. */
  providerBlock(block: Json): void {
    this.message.providerBlocks ??= [];
    this.message.providerBlocks.push({ index: this.message.content.length, block });
  }

  /** Sets counts; the last value of each wins. `cost` only for a total that the provider has billed. */
  usage(counts: Partial<Omit<Usage, "totalTokens">>): void {
    const usage = Object.assign(this.message.usage, counts);
    usage.totalTokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  }

  /** Hands over the events since the last call. */
  takeBatch(): StreamEvent[] {
    const batch = this.#batch;
    this.#batch = [];
    return batch;
  }

  /**
   * Ends the answer well. Open blocks are complete, but after `length` a call without a whole JSON object is cut.
   * Between `stop` and `toolUse` the calls decide, not `reason`.
   */
  done(reason: "stop" | "length" | "toolUse", rawStopReason?: string): void {
    if (this.isEnded) return;
    this.start();
    this.#finish(reason === "length" ? "maybe" : "no");
    const hasCalls = this.message.content.some((block) => block.type === "toolCall");
    const stopReason = reason === "length" ? reason : hasCalls ? "toolUse" : "stop";
    this.message.stopReason = stopReason;
    if (rawStopReason !== undefined) this.message.rawStopReason = rawStopReason;
    this.#batch.push({ type: "done", reason: stopReason, message: this.message });
  }

  /** Ends the answer with a failure. What has arrived is kept, with open calls marked as cut. */
  fail(failure: Failure, errorMessage: string): void {
    if (this.isEnded) return;
    this.message.failure = failure;
    this.#endWith("error", errorMessage);
  }

  /** Ends the answer after an abort. What has arrived is kept, with open calls marked as cut. */
  abort(): void {
    if (!this.isEnded) this.#endWith("aborted", "The request was aborted.");
  }

  #endWith(reason: "error" | "aborted", errorMessage: string): void {
    this.#finish("yes");
    this.message.stopReason = reason;
    this.message.errorMessage = errorMessage;
    this.#batch.push({ type: "error", reason, error: this.message });
  }

  #finish(cut: Cut): void {
    for (const key of this.#open.keys()) this.#close(key, cut);
    this.isEnded = true;
    this.message.usage.cost = priceUsage(this.#request.model, this.message.usage);
    this.message.durationMs = Math.round(performance.now() - this.#startedMs);
  }

  #grow(chars: number): void {
    this.#chars += chars;
    if (this.#chars > MAX_ANSWER_CHARS) throw malformed(`the answer is longer than ${MAX_ANSWER_CHARS} characters`);
  }

  #add(key: BlockKey, block: Open["block"]): Open {
    this.#grow(BLOCK_CHARS);
    this.start();
    if (this.#open.has(key)) this.#close(key, "no");
    const at = { index: this.message.content.push(block) - 1, block, raw: "" };
    this.#open.set(key, at);
    if (block.type === "toolCall") {
      const { id, name: toolName } = block;
      this.#batch.push({ type: "toolcall_start", contentIndex: at.index, id, toolName });
    } else this.#batch.push({ type: `${block.type}_start`, contentIndex: at.index });
    return at;
  }

  #need(key: BlockKey): Open {
    const at = this.#open.get(key);
    if (at === undefined) throw malformed(`the answer goes on with a block "${key}" that is not open`);
    return at;
  }

  #close(key: BlockKey, cut: Cut): void {
    const { block, index: contentIndex, raw } = this.#need(key);
    this.#open.delete(key);
    if (block.type === "text") this.#batch.push({ type: "text_end", contentIndex, content: block.text });
    else if (block.type === "thinking")
      this.#batch.push({ type: "thinking_end", contentIndex, content: block.thinking });
    else {
      Object.assign(block, parseArguments(raw, cut));
      this.#batch.push({ type: "toolcall_end", contentIndex, toolCall: block });
    }
  }

  #uniqueId(id: string | null | undefined): string {
    const { earlier, own } = (this.#usedIds ??= usedIds(this.#request));
    let unique = (typeof id === "string" && id) || `call_${crypto.randomUUID().replaceAll("-", "")}`;
    while (earlier.has(unique) || own.has(unique)) unique = `${id}_${crypto.randomUUID().slice(0, 8)}`;
    own.add(unique);
    return unique;
  }
}

interface UsedIds {
  /** Of the conversation, as far as it cannot change. */
  earlier: ReadonlySet<string>;
  own: Set<string>;
}

const collectIds = createFold<Set<string>, undefined>({ start: () => new Set(), add: addCallIds });

function usedIds({ messages }: ProviderRequest): UsedIds {
  const { state: earlier, rest } = collectIds(messages, undefined);
  const own = new Set<string>();
  for (const message of rest) addCallIds(own, message);
  return { earlier, own };
}

function addCallIds(ids: Set<string>, message: Message): void {
  if (message.role !== "assistant") return;
  for (const block of message.content) if (block.type === "toolCall") ids.add(block.id);
}

function mixedUp(key: BlockKey): Error {
  return malformed(`the answer goes on with block "${key}" as another kind than it began`);
}

function malformed(message: string): Error {
  return failureError({ kind: "malformed_response" }, message);
}
