import { isObject } from "./wire-server/json-values.ts";

/** An event of a hook or a line of JSON mode: only its `type` is certain. */
export interface OrderedEvent {
  type: string;
  [field: string]: unknown;
}

const GRAMMAR_TYPES = new Set([
  "agent_start",
  "agent_end",
  "agent_settled",
  "turn_start",
  "turn_end",
  "message_start",
  "message_update",
  "message_end",
  "tool_execution_start",
  "tool_execution_update",
  "tool_execution_end",
  "auto_retry_start",
  "auto_retry_end",
]);

/**
 * Fails where events are not in the order that the kernel promises (K2). Other types may stand anywhere.
 *
 *   settle := (agent_start turn+ agent_end)+ agent_settled
 *   turn   := turn_start (message_start message_end)* message_start message_update* message_end tools? turn_end
 *   tools  := start* update* end* (message_start message_end)*        parallel, results in call order
 *           | (start update* end message_start message_end)*          sequential
 *
 * `isWhole: false` also takes events that break off, as those of a process that was killed.
 */
export function assertEventOrder(events: readonly OrderedEvent[], options: { isWhole?: boolean } = {}): void {
  const reader = createReader(events.filter((event) => GRAMMAR_TYPES.has(event.type)));
  try {
    while (!reader.isAtEnd()) readSettle(reader);
  } catch (error) {
    if (options.isWhole === false && error === BROKEN_OFF) return;
    throw error === BROKEN_OFF ? reader.fault("more events") : error;
  }
}

const BROKEN_OFF: Error = new Error("The events end in the middle.");

interface Reader {
  isAtEnd(): boolean;
  /** The next event, of any type. */
  peek(): OrderedEvent;
  /** Takes the next event, which must be of `type`. */
  take(type: string): OrderedEvent;
  fault(expected: string): Error;
}

function createReader(events: readonly OrderedEvent[]): Reader {
  let at = 0;
  const peek = () => {
    const event = events[at];
    if (!event) throw BROKEN_OFF;
    return event as OrderedEvent;
  };
  const fault = (expected: string) => {
    const before = events.slice(Math.max(0, at - 6), at).map((event) => event.type);
    const found = events[at] ? JSON.stringify(events[at]).slice(0, 300) : "the end";
    return new Error(
      `Event ${at}: expected ${expected}, found ${found}.\nBefore it: ${before.join(", ") || "nothing"}.`,
    );
  };
  return {
    isAtEnd: () => at === events.length,
    peek,
    take(type) {
      const event = peek();
      if (event.type !== type) throw fault(type);
      at++;
      return event;
    },
    fault,
  };
}

function readSettle(reader: Reader): void {
  const place = { runId: reader.peek().runId, turnIndex: 0 };
  do {
    readPlaced(reader, "agent_start", place);
    do {
      readTurn(reader, place);
      place.turnIndex++;
      if (reader.peek().type === "auto_retry_start") {
        reader.take("auto_retry_start");
        reader.take("auto_retry_end");
      }
    } while (reader.peek().type === "turn_start");
    readPlaced(reader, "agent_end", place);
  } while (reader.peek().type === "agent_start");
  readPlaced(reader, "agent_settled", place);
}

interface Place {
  runId: unknown;
  turnIndex: number;
}

/** Every event names its run; those inside a turn also name the turn. */
function readPlaced(reader: Reader, type: string, { runId, turnIndex }: Place): OrderedEvent {
  const { runId: found, turnIndex: turn = turnIndex } = reader.peek();
  if (typeof found !== "string" || found !== runId) throw reader.fault(`${type} of run ${String(runId)}`);
  if (turn !== turnIndex) throw reader.fault(`${type} of turn ${turnIndex}`);
  return reader.take(type);
}

function readTurn(reader: Reader, place: Place): void {
  readPlaced(reader, "turn_start", place);
  while (roleOf(reader.peek()) !== "assistant") {
    readMessage(reader, place, ["user", "custom"]);
  }
  const answer = readAnswer(reader, place);
  const ids = listCallIds(answer);
  const isWhole = answer.stopReason !== "error" && answer.stopReason !== "aborted";
  if (ids.length > 0 && isWhole) readTools(reader, place, ids);
  const end = readPlaced(reader, "turn_end", place);
  const results = Array.isArray(end.toolResults) ? end.toolResults.map((each) => each?.toolCallId) : undefined;
  const expected = isWhole ? ids : [];
  if (results && JSON.stringify(results) !== JSON.stringify(expected)) {
    throw new Error(
      `turn_end of turn ${place.turnIndex}: results ${results.join(", ")}, calls ${expected.join(", ")}.`,
    );
  }
}

function readMessage(reader: Reader, place: Place, roles: string[]): OrderedEvent {
  const role = roleOf(reader.peek());
  if (reader.peek().type !== "message_start" || !roles.includes(role)) {
    throw reader.fault(`message_start of ${roles.join(" or ")}`);
  }
  readPlaced(reader, "message_start", place);
  if (roleOf(reader.peek()) !== role) throw reader.fault(`message_end of ${role}`);
  return readPlaced(reader, "message_end", place);
}

function readAnswer(reader: Reader, place: Place): Record<string, unknown> {
  readPlaced(reader, "message_start", place);
  const open = new Set<unknown>();
  while (reader.peek().type === "message_update") readUpdate(reader, place, open);
  if (roleOf(reader.peek()) !== "assistant") throw reader.fault("message_end of assistant");
  const message = readPlaced(reader, "message_end", place).message as Record<string, unknown>;
  const isWhole = message.stopReason !== "error" && message.stopReason !== "aborted";
  if (isWhole && open.size > 0) throw new Error(`Turn ${place.turnIndex}: block ${[...open].join(", ")} never ended.`);
  return message;
}

/** A block begins before its deltas and ends after them; blocks may overlap. */
function readUpdate(reader: Reader, place: Place, open: Set<unknown>): void {
  const update = reader.peek().assistantMessageEvent;
  if (!isObject(update)) throw reader.fault("message_update with an assistantMessageEvent");
  const [, step] = /_(start|delta|end)$/.exec(String(update.type)) ?? [];
  const isOpen = open.has(update.contentIndex);
  if (step !== undefined && (step === "start") === isOpen) throw reader.fault(`no ${String(update.type)} here`);
  if (step === "start") open.add(update.contentIndex);
  if (step === "end") open.delete(update.contentIndex);
  readPlaced(reader, "message_update", place);
}

function readTools(reader: Reader, place: Place, ids: readonly unknown[]): void {
  const started = new Set<unknown>();
  const running = new Set<unknown>();
  const results: unknown[] = [];
  const readStart = () => {
    const id = ids[started.size];
    if (reader.peek().toolCallId !== id) throw reader.fault(`tool_execution_start of ${String(id)}`);
    readPlaced(reader, "tool_execution_start", place);
    started.add(id);
    running.add(id);
  };
  const readRunning = () => {
    while (running.size > 0) {
      const { type, toolCallId } = reader.peek();
      if (!running.has(toolCallId)) throw reader.fault(`an event of ${[...running].join(" or ")}`);
      readPlaced(reader, type === "tool_execution_update" ? type : "tool_execution_end", place);
      if (type === "tool_execution_end") running.delete(toolCallId);
    }
  };
  const readResult = () => {
    const id = ids[results.length];
    const { message } = readMessage(reader, place, ["toolResult"]);
    if (!isObject(message) || message.toolCallId !== id) throw reader.fault(`the result of ${String(id)}`);
    results.push(id);
  };
  // All starts in a row: a parallel batch. Else one call at a time.
  readStart();
  while (reader.peek().type === "tool_execution_start") readStart();
  const isParallel = started.size === ids.length;
  if (!isParallel && started.size > 1) throw reader.fault("the start of every call of a parallel batch");
  readRunning();
  if (isParallel) for (const _ of ids) readResult();
  else {
    readResult();
    while (started.size < ids.length) {
      readStart();
      readRunning();
      readResult();
    }
  }
}

function roleOf(event: OrderedEvent): string {
  return isObject(event.message) ? String(event.message.role) : "";
}

function listCallIds({ content }: Record<string, unknown>): unknown[] {
  if (!Array.isArray(content)) return [];
  return content.filter((block) => block?.type === "toolCall").map((block) => block.id);
}
