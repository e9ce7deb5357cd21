/** The types of every hook, tool and registration, as the compiler sees them (E7). `tsc` is the test. */
import { Type } from "typebox";
import type {
  AgentEvent,
  AssistantMessage,
  Context,
  Draft,
  Effect,
  Entry,
  ExtensionAPI,
  Handler,
  HookEvent,
  HookName,
  HookPoints,
  HookResult,
  Json,
  JsonObject,
  Message,
  Outcome,
  Point,
  ProviderRequest,
  Services,
  StreamEvent,
  ToolResult,
  ToolResultMessage,
} from "../src/index.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <T extends true>(_claim?: T): void => {};

// A package declares a point and a service of its own by merging.
declare module "../src/index.ts" {
  interface HookPoints {
    test_asked: Point<"gate", { question: string }, { block?: boolean; reason?: string }>;
  }
  interface Services {
    test_clock: { now(): number };
  }
}

// E7: each event carries its own type, and nothing else's fields.
holds<Equal<HookEvent<"turn_start">["type"], "turn_start">>();
holds<Equal<HookEvent<"tool_call">["input"], JsonObject>>();
holds<Equal<HookEvent<"tool_result">["details"], Json | undefined>>();
holds<Equal<HookEvent<"agent_end">["outcome"], Outcome>>();
holds<Equal<HookEvent<"turn_end">["toolResults"], readonly ToolResultMessage[]>>();
holds<Equal<HookEvent<"message_update">["assistantMessageEvent"], StreamEvent>>();
holds<Equal<HookEvent<"provider_error">["message"], AssistantMessage>>();
holds<Equal<HookEvent<"provider_call">, ProviderRequest>>();
holds<Equal<HookEvent<"transcript_append">["entry"], Entry>>();
holds<Equal<HookResult<"turn_start">, void>>();
holds<Equal<NonNullable<HookResult<"before_turn">["entries"]>, Draft[]>>();
// @ts-expect-error a notice about a turn has no message
holds<Equal<HookEvent<"turn_start">["message"], Message>>();

export default function extension(pi: ExtensionAPI): void {
  // E7: what a handler may answer is known, point by point.
  pi.on("message_end", ({ message }) => ({ message }));
  // @ts-expect-error a message is an object
  pi.on("message_end", () => ({ message: "text" }));
  pi.on("tool_result", () => ({ content: [{ type: "text", text: "x" }], isError: true, terminate: true }));
  // @ts-expect-error content is a list of blocks
  pi.on("tool_result", () => ({ content: "x" }));
  pi.on("provider_error", () => ({ retry: { delayMs: 1, reason: "busy" } }));
  pi.on("provider_error", () => ({ stop: true }));
  // @ts-expect-error a retry says how long to wait
  pi.on("provider_error", () => ({ retry: { reason: "busy" } }));
  pi.on("input", ({ text }) => ({ action: "transform", text }));
  // @ts-expect-error a transformation has a text
  pi.on("input", () => ({ action: "transform" }));
  // @ts-expect-error there is no such action
  pi.on("input", () => ({ action: "ignore" }));
  pi.on("before_turn", () => ({ activeTools: ["a"], thinkingLevel: "high" }));
  // @ts-expect-error there is no such level
  pi.on("before_turn", () => ({ thinkingLevel: "very" }));
  pi.on("agent_before_settle", async () => ({ continue: true }));
  // @ts-expect-error only a turn's end stops a run
  pi.on("agent_before_settle", () => ({ stop: true }) satisfies HookResult<"agent_before_settle">);
  pi.on("before_provider_headers", ({ headers }) => {
    headers.authorization = null;
  });

  // E7: a point of one's own is typed like the kernel's.
  pi.on("test_asked", ({ question }) => {
    holds<Equal<typeof question, string>>();
    return { block: true };
  });
  holds<Equal<Awaited<ReturnType<typeof ask>>, HookPoints["test_asked"]["result"] | undefined>>();
  function ask() {
    return pi.dispatch("test_asked", { question: "x" });
  }
  // @ts-expect-error its event has a question
  void pi.dispatch("test_asked", {});
  holds<Equal<Services["test_clock"], { now(): number }>>();
  holds<Equal<ReturnType<typeof clock>, { now(): number } | undefined>>();
  function clock() {
    return pi.service("test_clock");
  }
  // @ts-expect-error there is no such service
  pi.service("test_watch");

  // E7: every schema gives its arguments, also to effect, touches and prepareArguments.
  const parameters = Type.Object({
    path: Type.String(),
    lines: Type.Optional(Type.Array(Type.Integer())),
    mode: Type.Union([Type.Literal("a"), Type.Literal("b")]),
  });
  pi.registerTool({
    name: "typed",
    description: "typed",
    parameters,
    effect: ({ mode }): Effect => (mode === "a" ? "read" : "write"),
    touches: ({ path, lines }) => {
      holds<Equal<typeof lines, number[] | undefined>>();
      return { read: [path] };
    },
    async execute(_id, args, _signal, onUpdate, ctx) {
      holds<Equal<typeof args.mode, "a" | "b">>();
      holds<Equal<typeof ctx, Context>>();
      holds<Equal<Parameters<typeof onUpdate>, [partial: ToolResult]>>();
      // @ts-expect-error the schema names no such argument
      void args.nothing;
      return { content: [{ type: "text", text: args.path }] };
    },
  });
  pi.registerTool({
    name: "wrong",
    description: "wrong",
    parameters,
    // @ts-expect-error a result has content
    async execute() {
      return { text: "x" };
    },
  });
  pi.registerTool({
    name: "x",
    description: "x",
    parameters,
    // @ts-expect-error there is no such effect
    effect: "delete",
    execute: async () => ({ content: [] }),
  });
  // @ts-expect-error there is no such kind
  pi.register("gadget", "x", {});
  // @ts-expect-error there is no such slot
  pi.register("section", "x", { slot: "middle", text: "x" });
}

// E7: the union of all wire events tells its members apart by their type.
export function read(event: AgentEvent): unknown {
  switch (event.type) {
    case "tool_execution_end":
      holds<Equal<typeof event.isError, boolean>>();
      return event.result;
    case "message_update":
      return event.assistantMessageEvent;
    default:
      return undefined;
  }
}

export const handler: Handler<"tool_call"> = ({ toolName }) => (toolName === "x" ? { block: true } : undefined);
export const names: readonly HookName[] = ["turn_start", "test_asked"];
