/** The contract, as the compiler sees it. `tsc` is the test: what must not compile is marked as an expected error. */
import { Type } from "typebox";
import { createAgent, type Entry, type ExtensionAPI, type Message, type Model, type Services } from "../src/index.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <T extends true>(_claim?: T): void => {};

export default function extension(pi: ExtensionAPI): void {
  // E7: a handler's event and answer are known.
  pi.on("tool_call", (event, ctx) => {
    holds<Equal<typeof event.toolName, string>>();
    holds<Equal<typeof ctx.model, Model | undefined>>();
    return { block: true, reason: "no" };
  });
  // @ts-expect-error a gate does not answer with a number
  pi.on("tool_call", () => 7);
  // @ts-expect-error there is no such point
  pi.on("tool_cal", () => {});
  pi.on("context", ({ messages }) => {
    holds<Equal<typeof messages, Message[]>>();
    return { messages: messages.slice(1) };
  });
  pi.on("provider_call", (request, next) => next({ ...request, maxTokens: 1 }));
  // @ts-expect-error an around handler answers with a stream
  pi.on("provider_call", () => undefined);
  pi.on("turn_end", () => ({ entries: [{ type: "custom", customType: "x", data: { n: 1 } }], continue: true }));
  // @ts-expect-error a message is not a draft that a boundary may write without its message
  pi.on("turn_end", () => ({ entries: [{ type: "message" }] }));

  // E7: a TypeBox schema gives `execute` its arguments.
  pi.registerTool({
    name: "greet",
    description: "Greets.",
    parameters: Type.Object({ name: Type.String(), times: Type.Optional(Type.Number()) }),
    effect: ({ times }) => (times === undefined ? "read" : "write"),
    async execute(_id, args, signal, onUpdate, ctx) {
      holds<Equal<typeof args.name, string>>();
      holds<Equal<typeof args.times, number | undefined>>();
      holds<Equal<typeof signal, AbortSignal>>();
      onUpdate({ content: [] });
      return { content: [{ type: "text", text: `${args.name} in ${ctx.cwd}` }] };
    },
  });

  // A service is typed by its name.
  holds<Equal<ReturnType<typeof files>, Services["files"] | undefined>>();
  function files() {
    return pi.service("files");
  }
  // @ts-expect-error a command is not a number
  pi.register("command", "x", 7);
}

const agent = createAgent({ extensions: [extension] });
agent.on("message_update", ({ assistantMessageEvent }) => {
  if (assistantMessageEvent.type === "text_delta") holds<Equal<typeof assistantMessageEvent.delta, string>>();
});
const entry = agent.transcript.get("x") as Entry;
if (entry.type === "model_change") holds<Equal<typeof entry.modelId, string>>();
