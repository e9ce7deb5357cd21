import { playAnswer } from "./answer-events.ts";
import { type CreatePlayer, TOOL } from "./driver.ts";

/** The least that a loop has to do: generator, tool, push, and each listener told of each event. `place` is unused. */
export const create: CreatePlayer = async (_place, { step, listeners }) => {
  const messages: object[] = [];
  const tell = async (_event: object) => {
    for (const listener of listeners) listener();
  };
  const add = async (message: object) => {
    messages.push(message);
    await tell({ type: "message_start", message });
    await tell({ type: "message_end", message });
  };
  async function* stream(turn: number) {
    const batch: object[] = [];
    playAnswer(step(turn), turn, (event) => batch.push(event));
    yield batch;
  }
  return {
    messageCount: () => messages.length,
    async run() {
      await add({ role: "user", content: [{ type: "text", text: "go" }], timestamp: Date.now() });
      for (let turn = 0; ; turn++) {
        await tell({ type: "turn_start", turn });
        const message = await readAnswer(stream(turn), tell);
        await add(message);
        const call = message.content.find(({ type }) => type === "toolCall");
        if (call) await add({ role: "toolResult", toolCallId: call.id, ...(await runTool(call, tell)) });
        await tell({ type: "turn_end", message });
        if (!call) return;
      }
    },
  };
};

interface Answer {
  content: { type: string; id: string }[];
}

async function readAnswer(stream: AsyncIterable<object[]>, tell: (event: object) => Promise<void>): Promise<Answer> {
  for await (const batch of stream) {
    for (const event of batch as { type: string; message: Answer }[]) {
      if (event.type === "done") return event.message;
      if (event.type !== "start") await tell({ type: "message_update", event });
    }
  }
  throw new Error("The answer has no end.");
}

async function runTool(call: { id: string }, tell: (event: object) => Promise<void>): Promise<object> {
  await tell({ type: "tool_execution_start", id: call.id });
  const { content } = await TOOL.execute();
  await tell({ type: "tool_execution_end", id: call.id, content });
  return { toolName: TOOL.name, content, isError: false, timestamp: Date.now() };
}
