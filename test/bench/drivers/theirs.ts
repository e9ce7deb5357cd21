import { join } from "node:path";
import { playAnswer } from "./answer-events.ts";
import { type CreatePlayer, MODEL, type Play, TOOL } from "./driver.ts";

interface Core {
  Agent: new (
    options: object,
  ) => {
    subscribe(listener: () => void): void;
    prompt(text: string): Promise<void>;
    state: { messages: unknown[]; errorMessage?: string };
  };
}
interface Ai {
  createAssistantMessageEventStream(): { push(event: object): void; end(message: object): void };
}

/** Plays with `@earendil-works/pi-agent-core`; `place` is the `node_modules` that it lies in. */
export const create: CreatePlayer = async (place, play) => {
  const entry = (name: string) => join(place, "@earendil-works", name, "dist", "index.js");
  const { Agent } = (await import(entry("pi-agent-core"))) as Core;
  const ai = (await import(entry("pi-ai"))) as Ai;
  const agent = new Agent({
    initialState: { systemPrompt: "You are a test.", model: MODEL, tools: [TOOL], messages: [] },
    streamFn: describeStream(ai, play),
  });
  for (const listener of play.listeners) agent.subscribe(listener);
  return {
    async run() {
      await agent.prompt("go");
      if (agent.state.errorMessage) throw new Error(agent.state.errorMessage);
    },
    messageCount: () => agent.state.messages.length,
  };
};

function describeStream(ai: Ai, play: Play): () => object {
  let turn = 0;
  return () => {
    const stream = ai.createAssistantMessageEventStream();
    const message = playAnswer(play.step(turn), turn++, (event) => stream.push(event));
    stream.end(message);
    return stream;
  };
}
