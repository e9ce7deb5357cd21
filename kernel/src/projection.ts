/**
 * What the model needs next, made from what happened.
 *
 *   path ──► after the last compaction ──► edits applied ──► as messages ──► repaired
 *
 * 1. A message enters once, and is not looked at again when later ones enter.
 * 2. Every call that is sent has exactly one result, right after its message; every result has its call (K7). A result
 *    that was stored too late is moved to its call (F112).
 * 3. Failed and aborted answers are not sent.
 */
import type { Projector } from "./contract.ts";
import type {
  AssistantMessage,
  BashExecutionMessage,
  Entry,
  Message,
  Text,
  ToolCall,
  ToolResultMessage,
  UserContent,
} from "./messages.ts";

const COMPACTION_PREFIX = "The conversation before this point was compacted into this summary:";
const BRANCH_PREFIX = "This is a summary of a branch that the conversation came back from:";
const FAILED: ReadonlySet<string> = new Set(["error", "aborted"]);
const INTERRUPTED = "Interrupted, outcome unknown: the run ended before this call reported a result.";
const INTERRUPTED_CONTENT = Object.freeze([Object.freeze({ type: "text" as const, text: INTERRUPTED })]) as Text[];

/** The growing projection of one branch. */
export class Projection {
  readonly messages: Message[] = [];
  /** Messages that are not what their entry holds, but made of it, by the entry's id. */
  readonly made = new Map<Message, string>();
  /** How many messages are from before the last compaction, or from before an edit of one of them. */
  readonly outdated: number;
  /** Calls of the last answer that have no result yet, in call order. */
  open = new Map<string, ToolCall>();
  /** The id of the entry that the last answer came from. */
  private caller = "";
  private readonly edits = new Map<string, Entry<"context_edit">>();
  /** What was left out or changed of what would have been sent. */
  private readonly edited = new Set<string>();
  /** Results that may stand too late in the branch, by call id, in order; known when the whole is made anew. */
  private readonly results = new Map<string, ToolResultMessage[]>();
  /** Calls that were answered as interrupted. */
  private readonly interrupted = new Set<string>();
  private readonly projectors: (type: string) => Projector | undefined;

  constructor({ visible, kept }: Visible, projectors: (type: string) => Projector | undefined) {
    this.projectors = projectors;
    for (const entry of visible) {
      if (entry.type === "context_edit") this.edits.set(entry.targetId, entry);
      if (entry.type === "message" && entry.message.role === "toolResult") this.expect(entry.message);
    }
    let outdated = 0;
    for (let i = 0; i < visible.length; i++) {
      const entry = visible[i]!;
      this.add(entry);
      const isEdit = entry.type === "context_edit" && this.edited.has(entry.targetId);
      if (i < kept || isEdit) outdated = this.messages.length;
    }
    this.outdated = outdated;
  }

  /** Adds the newest entry of the branch. Answers `false` when the whole has to be made anew. */
  grow(entry: Entry): boolean {
    if (entry.type === "context_edit" || entry.type === "compaction") return false;
    if (entry.type === "message" && entry.message.role === "toolResult") {
      const { toolCallId } = entry.message;
      if (this.interrupted.has(toolCallId) && !this.open.has(toolCallId)) return false;
    }
    this.add(entry);
    return true;
  }

  /** The messages, each call with its result. The array is live, but while calls at the end have no result. */
  settled(): readonly Message[] {
    if (this.open.size === 0) return this.messages;
    return [...this.messages, ...Array.from(this.open.values(), interruptedResult)];
  }

  private expect(result: ToolResultMessage): void {
    const known = this.results.get(result.toolCallId);
    if (known) known.push(result);
    else this.results.set(result.toolCallId, [result]);
  }

  private add(entry: Entry): void {
    const edit = this.edits.get(entry.id);
    if (edit && !isFailed(entry)) this.edited.add(entry.id);
    if (edit?.replacement === null) return;
    const messages = toMessages(entry, this.projectors);
    if (!messages) return;
    for (const each of Array.isArray(messages) ? messages : [messages]) {
      const message = edit?.replacement ? withContent(each, edit.replacement.content) : each;
      if (entry.type !== "message" || message !== entry.message) this.made.set(message, entry.id);
      this.push(message, entry.id);
    }
  }

  private push(message: Message, source: string): void {
    if (message.role === "toolResult") {
      if (!this.open.delete(message.toolCallId)) return;
      this.results.get(message.toolCallId)?.shift();
      this.messages.push(message);
      return;
    }
    this.closeOpenCalls();
    if (message.role === "assistant") {
      if (FAILED.has(message.stopReason)) return;
      for (const block of message.content) if (block.type === "toolCall") this.open.set(block.id, block);
      this.caller = source;
    }
    this.messages.push(message);
  }

  private closeOpenCalls(): void {
    if (this.open.size === 0) return;
    for (const call of this.open.values()) {
      const late = this.results.get(call.id)?.shift();
      const result = late ?? interruptedResult(call);
      if (!late) {
        this.interrupted.add(call.id);
        this.made.set(result, this.caller);
      }
      this.messages.push(result);
    }
    this.open = new Map();
  }
}

/** An answer that is not sent, whatever is said about it. */
function isFailed(entry: Entry): boolean {
  return entry.type === "message" && entry.message.role === "assistant" && FAILED.has(entry.message.stopReason);
}

/** Messages that somebody cut or sorted, each call with its result again and no result without its call (K7). */
export function paired(messages: readonly Message[]): readonly Message[] {
  const whole: Message[] = [];
  let open = new Map<string, ToolCall>();
  const close = () => {
    for (const call of open.values()) whole.push(interruptedResult(call));
    open = new Map();
  };
  for (const message of messages) {
    if (message.role === "toolResult") {
      if (open.delete(message.toolCallId)) whole.push(message);
      continue;
    }
    close();
    whole.push(message);
    if (message.role !== "assistant") continue;
    for (const block of message.content) if (block.type === "toolCall") open.set(block.id, block);
  }
  close();
  return whole;
}

/** The messages of a path, as they were said: without those of the system, also the failed ones. */
export function messagesOf(path: readonly Entry[]): Message[] {
  return path.flatMap((entry): Message[] => {
    if (entry.type === "custom_message") return [customMessage(entry)];
    if (entry.type !== "message" || entry.message.role === "system" || entry.message.role === "bashExecution")
      return [];
    return [entry.message];
  });
}

function customMessage({ customType, content, display, details, timestamp }: Entry<"custom_message">): Message {
  return Object.freeze({ role: "custom", customType, content, display, details, timestamp: Date.parse(timestamp) });
}

/** The result of a call whose outcome nobody knows any more. */
export function interruptedResult(call: ToolCall): ToolResultMessage {
  return Object.freeze({
    role: "toolResult" as const,
    toolCallId: call.id,
    toolName: call.name,
    content: INTERRUPTED_CONTENT,
    isError: true,
    timestamp: Date.now(),
  });
}

/** What of a path the model may see, and how many entries of it a compaction kept. */
export interface Visible {
  visible: readonly Entry[];
  kept: number;
}

/** Finds what a path's last compaction left. */
export function sinceCompaction(path: readonly Entry[]): Visible {
  const at = path.findLastIndex((entry) => entry.type === "compaction");
  if (at < 0) return { visible: path, kept: 0 };
  const compaction = path[at] as Entry<"compaction">;
  const first = path.findIndex((entry) => entry.id === compaction.firstKeptEntryId);
  const before = first < 0 || first >= at ? [] : path.slice(first, at).filter((entry) => entry.type !== "compaction");
  const kept = [compaction, ...before];
  return { visible: [...kept, ...path.slice(at + 1)], kept: kept.length };
}

function toMessages(
  entry: Entry,
  projectors: (type: string) => Projector | undefined,
): Message | Message[] | undefined {
  const timestamp = () => Date.parse(entry.timestamp);
  switch (entry.type) {
    case "message": {
      const message = entry.message;
      if (message.role === "system") return undefined;
      if (message.role !== "bashExecution") return message;
      if (message.excludeFromContext) return undefined;
      return { role: "user", content: shellText(message), timestamp: message.timestamp };
    }
    case "custom_message":
      return customMessage(entry);
    case "compaction":
      return summary("compactionSummary", COMPACTION_PREFIX, entry.summary, timestamp());
    case "branch_summary":
      return entry.summary ? summary("branchSummary", BRANCH_PREFIX, entry.summary, timestamp()) : undefined;
    default:
      return projectors(entry.type === "custom" ? entry.customType : entry.type)?.(entry);
  }
}

function summary(customType: string, prefix: string, text: string, timestamp: number): Message {
  const content = `${prefix}\n\n<summary>\n${text}\n</summary>`;
  return Object.freeze({ role: "custom" as const, customType, content, display: true, timestamp });
}

function shellText({ command, output, exitCode, cancelled, truncated, fullOutputPath }: BashExecutionMessage): string {
  const notes = [
    cancelled ? "(cancelled)" : exitCode ? `(exit code ${exitCode})` : "",
    truncated ? `(the beginning is left out${fullOutputPath ? `; all of it is in ${fullOutputPath}` : ""})` : "",
  ];
  return [`Ran \`${command}\``, "```", output || "(no output)", "```", ...notes.filter(Boolean)].join("\n");
}

function withContent(message: Message, content: UserContent): Message {
  if (message.role === "user" || message.role === "custom") return Object.freeze({ ...message, content });
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return Object.freeze({ ...message, content: blocks } as AssistantMessage | ToolResultMessage);
}
