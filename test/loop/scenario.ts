/** What a random run is made of: answers, tools, hooks, and what somebody does at which moment. */
import fc from "fast-check";

export interface PlannedCall {
  tool: "parallel" | "sequential" | "ghost";
  id: string;
  args: "fit" | "bend" | "misfit" | "broken";
  ends: "answer" | "throw" | "reject" | "never" | "obey" | "late" | "rubbish" | "terminate" | "update";
  ticks: number;
}

export type PlannedTurn =
  | { kind: "text" | "failure" | "cut" | "mute" | "hang" | "deaf" | "pause" }
  | { kind: "calls" | "length" | "cut calls" | "failed calls" | "talks on" | "ends twice"; calls: PlannedCall[] }
  | { kind: "throws" | "throws late" | "rubbish"; what: number };

export type HookMode = "off" | "answer" | "rubbish" | "throw" | "reject" | "slow";

export interface Deed {
  /** The number of the event or hook call in which it is done. */
  at: number;
  what:
    | "abort"
    | "ctx.abort"
    | "steer"
    | "followUp"
    | "input"
    | "input later"
    | "clear"
    | "continue"
    | "exclusive"
    | "register"
    | "deactivate";
}

export interface Scenario {
  turns: PlannedTurn[];
  hooks: Record<string, HookMode>;
  deeds: Deed[];
  maxTurns: number | undefined;
  steeringMode: "one-at-a-time" | "all";
  followUpMode: "one-at-a-time" | "all";
  afterwards: ("continue" | "prompt" | "abort" | "steer")[];
}

/** The hooks that a random extension handles. */
export const HOOKS = [
  "input",
  "before_agent_start",
  "before_turn",
  "context",
  "message_start",
  "message_update",
  "message_end",
  "tool_call",
  "tool_result",
  "tool_execution_start",
  "tool_execution_end",
  "turn_start",
  "turn_end",
  "agent_before_settle",
  "agent_end",
  "agent_settled",
  "queue_update",
  "provider_error",
  "transcript_append",
  "transcript_flush",
] as const;

const call: fc.Arbitrary<PlannedCall> = fc.record({
  tool: fc.constantFrom("parallel", "parallel", "parallel", "sequential", "ghost"),
  id: fc.constantFrom("a", "b", "c", ""),
  args: fc.constantFrom("fit", "fit", "fit", "bend", "misfit", "broken"),
  ends: fc.constantFrom(
    "answer",
    "answer",
    "answer",
    "throw",
    "reject",
    "never",
    "obey",
    "late",
    "rubbish",
    "terminate",
    "update",
  ),
  ticks: fc.nat(3),
});
const calls = fc.array(call, { maxLength: 6 });

const turn: fc.Arbitrary<PlannedTurn> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("text" as const) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("calls" as const), calls }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom("length", "cut calls", "failed calls", "talks on", "ends twice"),
      calls,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom("failure", "cut", "mute", "hang", "deaf", "pause") }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom("throws", "throws late", "rubbish"), what: fc.nat(15) }),
  },
);

const deed: fc.Arbitrary<Deed> = fc.record({
  at: fc.nat(60),
  what: fc.constantFrom(
    "abort",
    "ctx.abort",
    "steer",
    "steer",
    "followUp",
    "followUp",
    "input",
    "input later",
    "clear",
    "continue",
    "exclusive",
    "register",
    "deactivate",
  ),
});

const mode = fc.constantFrom<HookMode>("off", "off", "answer", "rubbish", "throw", "reject", "slow");
const queueMode = fc.constantFrom("one-at-a-time" as const, "all" as const);

export const scenario: fc.Arbitrary<Scenario> = fc.record({
  turns: fc.array(turn, { maxLength: 6 }),
  hooks: fc.record(Object.fromEntries(HOOKS.map((name) => [name, mode]))),
  deeds: fc.array(deed, { maxLength: 6 }),
  maxTurns: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  steeringMode: queueMode,
  followUpMode: queueMode,
  afterwards: fc.array(fc.constantFrom("continue", "prompt", "abort", "steer"), { maxLength: 2 }),
});
