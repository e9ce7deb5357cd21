/**
 * From the steps of a run to the events that its agent told, as far as steps can tell:
 *
 *   agent_start  turn_start  message_start message_update* message_end
 *                            tool_execution_start*  (tool_execution_end message_start message_end)*  turn_end …  agent_end  agent_settled
 *
 * A run that was cut off ends where its steps end.
 */
import type {
  AgentEvent,
  AssistantMessage,
  Entry,
  Message,
  Outcome,
  ToolCall,
  ToolResult,
  ToolResultMessage,
} from "@pi-agent/kernel";
import { streamEvents } from "./answer-events.ts";
import type { RunRow, Step } from "./queries.ts";
import type { TimedEvent } from "./timed-event.ts";

interface Options {
  /** Answers come in small pieces over the time that they took, not each block at once. */
  isStreamed: boolean;
}

/** Makes the events of a run, in the order in which they were told. */
export function* toEvents(run: RunRow, steps: readonly Step[], options: Options): Generator<TimedEvent> {
  const player = new Player(run, options);
  yield player.at(run.created_at.getTime(), { type: "agent_start", runId: run.id });
  for (const step of steps) yield* player.play(step);
  yield* player.end(run);
}

class Player {
  private readonly runId: string;
  private readonly options: Options;
  private lastMs = 0;
  private turnIndex = -1;
  private answer: { message: AssistantMessage; entryId: string } | undefined;
  private results: { message: ToolResultMessage; entryId: string }[] = [];
  private readonly messages: Message[] = [];

  constructor({ id }: RunRow, options: Options) {
    this.runId = id;
    this.options = options;
  }

  /** Clocks may go back; the order of events does not. */
  at(ms: number, event: object): TimedEvent {
    this.lastMs = Math.max(this.lastMs, ms);
    return { atMs: this.lastMs, event: event as AgentEvent };
  }

  *play(step: Step): Generator<TimedEvent> {
    const message = messageOf(step.entry);
    if (!message) return;
    const beganMs = message.role === "assistant" ? message.timestamp : step.timestamp.getTime();
    if (step.iteration > this.turnIndex) yield* this.startTurn(step.iteration, beganMs);
    this.messages.push(message);
    if (message.role === "assistant") yield* this.playAnswer(message, step);
    else if (message.role === "toolResult") yield* this.playResult(message, step);
    else yield* this.playMessage(message, step.timestamp.getTime());
  }

  *end({ status, ended_at }: RunRow): Generator<TimedEvent> {
    if (!ended_at) return;
    const endMs = ended_at.getTime();
    const outcome = status as Outcome;
    yield* this.endTurn(endMs, outcome);
    const { runId, messages } = this;
    yield this.at(endMs, { type: "agent_end", runId, outcome, messages, willRetry: false });
    yield this.at(endMs, { type: "agent_settled", runId, outcome, aborted: outcome === "aborted" });
  }

  private get inTurn() {
    return { runId: this.runId, turnIndex: this.turnIndex };
  }

  private *startTurn(turnIndex: number, ms: number): Generator<TimedEvent> {
    yield* this.endTurn(ms, "done");
    this.turnIndex = turnIndex;
    yield this.at(ms, { type: "turn_start", ...this.inTurn, timestamp: ms });
  }

  private *endTurn(ms: number, outcome: Outcome): Generator<TimedEvent> {
    const { answer, results } = this;
    this.answer = undefined;
    this.results = [];
    if (!answer) return;
    yield this.at(ms, {
      type: "turn_end",
      ...this.inTurn,
      outcome,
      entries: [],
      message: answer.message,
      messageEntryId: answer.entryId,
      toolResults: results.map(({ message }) => message),
      toolResultEntryIds: results.map(({ entryId }) => entryId),
    });
  }

  private *playMessage(message: Message, ms: number): Generator<TimedEvent> {
    yield this.at(ms, { type: "message_start", ...this.inTurn, message });
    yield this.at(ms, { type: "message_end", ...this.inTurn, message });
  }

  private *playAnswer(message: AssistantMessage, { timestamp, entry }: Step): Generator<TimedEvent> {
    const beganMs = message.timestamp;
    const endMs = Math.max(
      beganMs,
      message.durationMs === undefined ? timestamp.getTime() : beganMs + message.durationMs,
    );
    const { partial, updates } = streamEvents(message, this.options);
    yield this.at(beganMs, { type: "message_start", ...this.inTurn, message: partial });
    for (const { event, share } of updates) {
      const ms = beganMs + share * (endMs - beganMs);
      yield this.at(ms, { type: "message_update", ...this.inTurn, message: partial, assistantMessageEvent: event });
    }
    yield this.at(endMs, { type: "message_end", ...this.inTurn, message });
    this.answer = { message, entryId: entry.id };
    if (message.stopReason === "error" || message.stopReason === "aborted") return;
    for (const call of callsOf(message)) {
      const told = { toolCallId: call.id, toolName: call.name, args: call.arguments };
      yield this.at(endMs, { type: "tool_execution_start", ...this.inTurn, ...told });
    }
  }

  private *playResult(message: ToolResultMessage, { timestamp, entry }: Step): Generator<TimedEvent> {
    const { toolCallId, toolName, content, details, isError, usage, durationMs } = message;
    const result: ToolResult = { content, ...(details !== undefined && { details }), ...(usage && { usage }), isError };
    const ms = timestamp.getTime();
    const told = { toolCallId, toolName, result, isError, ...(durationMs !== undefined && { durationMs }) };
    yield this.at(ms, { type: "tool_execution_end", ...this.inTurn, ...told });
    yield* this.playMessage(message, ms);
    this.results.push({ message, entryId: entry.id });
  }
}

function callsOf({ content }: AssistantMessage): ToolCall[] {
  return content.filter((block) => block.type === "toolCall");
}

/** What enters the conversation; what else was recorded is told by no event of the loop. */
function messageOf(entry: Entry): Message | undefined {
  if (entry.type === "custom_message") {
    const { customType, content, display } = entry;
    return { role: "custom", customType, content, display, timestamp: Date.parse(entry.timestamp) };
  }
  if (entry.type !== "message") return undefined;
  const { role } = entry.message;
  return role === "system" || role === "bashExecution" ? undefined : entry.message;
}
