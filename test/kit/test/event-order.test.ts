import { expect, test } from "vitest";
import { assertEventOrder, type OrderedEvent } from "../src/index.ts";

const RUN = "01890000-0000-7000-8000-000000000000";
const CALLS = [
  { type: "toolCall", id: "a", name: "read", arguments: {} },
  { type: "toolCall", id: "b", name: "read", arguments: {} },
];

const inRun = (type: string, more: object = {}): OrderedEvent => ({ type, runId: RUN, ...more });
const inTurn = (turnIndex: number, type: string, more: object = {}) => inRun(type, { turnIndex, ...more });
const message = (turn: number, it: object) => [
  inTurn(turn, "message_start", { message: it }),
  inTurn(turn, "message_end", { message: it }),
];
const user = (turn = 0) => message(turn, { role: "user", content: "hi" });
const answer = (turn: number, more: object = {}) =>
  message(turn, { role: "assistant", content: [], stopReason: "stop", ...more });
const result = (turn: number, id: string) => message(turn, { role: "toolResult", toolCallId: id });
const tool = (step: string, toolCallId: string) => inTurn(0, `tool_execution_${step}`, { toolCallId });
const update = (type: string, contentIndex: number) =>
  inTurn(0, "message_update", { assistantMessageEvent: { type, contentIndex } });

const asking = answer(0, { content: CALLS, stopReason: "toolUse" });
const TAIL = [inTurn(1, "turn_start"), ...answer(1), inTurn(1, "turn_end"), inRun("agent_end"), inRun("agent_settled")];
/** A run whose first turn has these events between its beginning and its end. */
const run = (...inside: OrderedEvent[]) => [
  inRun("agent_start"),
  inTurn(0, "turn_start"),
  ...inside,
  inTurn(0, "turn_end"),
  ...TAIL,
];

const parallel = [
  tool("start", "a"),
  tool("start", "b"),
  tool("update", "b"),
  tool("end", "b"),
  tool("end", "a"),
  ...result(0, "a"),
  ...result(0, "b"),
];
const sequential = [
  tool("start", "a"),
  tool("end", "a"),
  ...result(0, "a"),
  tool("start", "b"),
  tool("update", "b"),
  tool("end", "b"),
  ...result(0, "b"),
];

test.for([
  ["a plain answer", run(...user(), ...answer(0))],
  ["no event at all", []],
  ["other types in between", [{ type: "session" }, ...run(...user(), { type: "queue_update" }, ...answer(0))]],
  ["steering and custom messages before the answer", run(...user(), ...message(0, { role: "custom" }), ...answer(0))],
  ["parallel calls that end in any order", run(...user(), ...asking, ...parallel)],
  ["sequential calls", run(...user(), ...asking, ...sequential)],
  ["an aborted answer whose calls never ran", run(...user(), ...answer(0, { content: CALLS, stopReason: "aborted" }))],
  [
    "overlapping blocks",
    run(
      ...user(),
      asking[0]!,
      ...["text_start", "text_delta"].map((type) => update(type, 0)),
      update("toolcall_start", 1),
      update("text_end", 0),
      update("toolcall_end", 1),
      asking[1]!,
      ...parallel,
    ),
  ],
  [
    "a retry between turns",
    run(...user(), ...answer(0, { stopReason: "error" })).toSpliced(
      7,
      0,
      inRun("auto_retry_start"),
      inRun("auto_retry_end"),
    ),
  ],
  [
    "a run that goes on before it settles",
    [
      ...run(...user(), ...answer(0)).slice(0, -1),
      inRun("agent_start"),
      inTurn(2, "turn_start"),
      ...answer(2),
      inTurn(2, "turn_end"),
      inRun("agent_end"),
      inRun("agent_settled"),
    ],
  ],
] as [string, OrderedEvent[]][])("K2 takes %s", ([, events]) => {
  expect(() => assertEventOrder(events)).not.toThrow();
});

test.for([
  ["events of another run", run(...user(), ...answer(0)).with(3, { ...user()[1]!, runId: "other" } as OrderedEvent)],
  ["a turn number left out", run(...user(), ...message(1, { role: "assistant", content: [] }))],
  ["a turn without an answer", run(...user())],
  ["a message that begins and does not end", run(user()[0]!, ...answer(0))],
  ["an answer before the person's words", run(...answer(0), ...user())],
  ["calls that nobody ran", run(...user(), ...asking)],
  ["starts out of order", run(...user(), ...asking, parallel[1]!, parallel[0]!, ...parallel.slice(2))],
  ["an end without a start", run(...user(), ...asking, tool("end", "a"), ...parallel)],
  ["an end twice", run(...user(), ...asking, ...parallel.toSpliced(4, 0, tool("end", "b")))],
  ["results out of order", run(...user(), ...asking, ...parallel.slice(0, 5), ...result(0, "b"), ...result(0, "a"))],
  ["a result before a parallel call has ended", run(...user(), ...asking, ...parallel.slice(0, 4), ...result(0, "a"))],
  ["a missing result", run(...user(), ...asking, ...parallel.slice(0, -2))],
  ["a delta before its block begins", run(...user(), asking[0]!, update("text_delta", 0), asking[1]!, ...parallel)],
  ["a block that never ends", run(...user(), asking[0]!, update("text_start", 0), asking[1]!, ...parallel)],
  ["an end of the run in the middle of a turn", run(...user(), ...answer(0)).toSpliced(6, 1)],
  ["events after the run has settled", [...run(...user(), ...answer(0)), inRun("agent_end")]],
  ["a run that never settles", run(...user(), ...answer(0)).slice(0, -1)],
  [
    "results at the turn's end that are not those of its calls",
    run(...user(), ...asking, ...parallel).map((event) =>
      event.type === "turn_end" ? { ...event, toolResults: [{ toolCallId: "b" }] } : event,
    ),
  ],
] as [string, OrderedEvent[]][])("K2 refuses %s", ([, events]) => {
  expect(() => assertEventOrder(events)).toThrow();
});

test("events that break off pass when they are said to", () => {
  const events = run(...user(), ...asking, ...parallel);
  for (let length = 0; length <= events.length; length++) {
    expect(() => assertEventOrder(events.slice(0, length), { isWhole: false })).not.toThrow();
  }
});
