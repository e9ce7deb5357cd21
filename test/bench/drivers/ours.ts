import type { Api, Extension, StreamEvent, Tool } from "@pi-agent/kernel";
import { playAnswer } from "./answer-events.ts";
import { type CreatePlayer, MODEL, type Play, TOOL } from "./driver.ts";
import { hookedExtensions } from "./hooked-extensions.ts";

/** Plays with a built kernel; `place` is its file. */
export const create: CreatePlayer = async (place, play) => {
  const { createAgent } = (await import(place)) as typeof import("@pi-agent/kernel");
  const agent = createAgent({ extensions: [describePlay(play), ...hookedExtensions(play.hooks)], model: MODEL });
  await agent.ready();
  for (const listener of play.listeners) agent.onWire(listener);
  return {
    async run() {
      const { outcome } = await agent.run("go");
      if (outcome !== "done") throw new Error(`The run ended as ${outcome}.`);
    },
    messageCount: () => agent.transcript.project().length,
  };
};

function describePlay(play: Play): Extension {
  let turn = 0;
  const api: Api = {
    async *stream(request) {
      if (play.hooks) await fireRequestHooks(request);
      const batch: StreamEvent[] = [];
      playAnswer(play.step(turn), turn++, (event) => batch.push(event as StreamEvent));
      yield batch;
    },
  };
  return (pi) => {
    pi.register("api", MODEL.api, api);
    pi.registerProvider({ id: MODEL.provider, api: MODEL.api, models: [MODEL], env: [] });
    pi.registerTool(TOOL as unknown as Tool);
  };
}

/** Asks what a provider of a real wire format asks before it sends, and tells that the head is there. */
async function fireRequestHooks(request: Parameters<Api["stream"]>[0]): Promise<void> {
  await request.onPayload({});
  await request.onHeaders({});
  await request.onResponse({ status: 200, headers: NO_HEADERS });
}

const NO_HEADERS = new Headers();
