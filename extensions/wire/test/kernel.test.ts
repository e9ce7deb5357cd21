import { createAgent, type Extension } from "@pi-agent/kernel";
import { TEST_MODEL } from "@pi-agent/testing/provider";
import { expect, onTestFinished, test } from "vitest";
import { streamAnswer } from "../src/index.ts";
import { bodyOf } from "./body-of.ts";

/** A provider over a body that is there already. */
const acme: Extension = (pi) => {
  pi.register("api", TEST_MODEL.api, {
    stream: (request) =>
      streamAnswer(request, {
        api: TEST_MODEL.api,
        open: async () => new Response(bodyOf(['data: "It is "\n\ndata: "noon."\n\n', "data: [DONE]\n\n"])),
        read({ data }, answer) {
          if (data === "[DONE]") answer.done("stop");
          else answer.text("text", JSON.parse(data));
        },
      }),
  });
  pi.registerProvider({ id: TEST_MODEL.provider, api: TEST_MODEL.api, models: [TEST_MODEL], env: [] });
};

test("E11 provider_stream_event tells each event of the wire on the real kernel, before what it means", async () => {
  const order: unknown[] = [];
  const listens: Extension = (pi) => {
    pi.on("provider_stream_event", async ({ provider, api, model, turnIndex, data }) => {
      await Promise.resolve();
      order.push({ provider, api, model, turnIndex, data });
    });
    pi.on("message_update", ({ assistantMessageEvent: event }) => {
      if (event.type === "text_delta") order.push(event.delta);
    });
  };
  const host = { credentials: { names: () => [], resolve: async () => ({}) } };
  const agent = createAgent({ extensions: [acme, listens], model: TEST_MODEL, host });
  onTestFinished(async () => void (await agent.dispose()));
  expect((await agent.run("What time is it?")).answer).toBe("It is noon.");
  const place = { provider: TEST_MODEL.provider, api: TEST_MODEL.api, model: TEST_MODEL.id, turnIndex: 0 };
  expect(order).toEqual([{ ...place, data: "It is " }, { ...place, data: "noon." }, "It is ", "noon."]);
});
