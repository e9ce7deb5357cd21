import { gzipSync } from "node:zlib";
import { replyCut, streamToEnd } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import { chatApi } from "../src/chat.ts";
import { call, delta, finish, fn } from "./chat-lines.ts";
import { ask, createRequest, DONE, frame } from "./support.ts";

test("F122 a connection that is torn down in the middle is a network failure", async () => {
  const { message } = await ask(chatApi, replyCut(frame(delta({ content: "half" }))));
  expect(message).toMatchObject({ stopReason: "error", failure: { kind: "network" }, content: [{ text: "half" }] });
});

test("F122 a compressed answer that is cut is a failure", async () => {
  const text = frame(delta({ content: "half" })).repeat(200);
  const packed = gzipSync(text + DONE);
  const { message } = await ask(chatApi, (response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
    response.end(packed.subarray(0, packed.length / 2));
  });
  expect(message).toMatchObject({ stopReason: "error", failure: { kind: "network" } });
});

const WHOLE = new TextEncoder().encode(
  [delta({ content: "é" }), call({ index: 0, id: "a", ...fn("read", '{"path":"a"}') }), finish("tool_calls")]
    .map(frame)
    .join("") + DONE,
);

/** A body that gives some bytes and then waits for an abort, or ends. */
function bodyOf(bytes: Uint8Array, then: (controller: ReadableStreamDefaultController<Uint8Array>) => void) {
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (bytes.length > 0) controller.enqueue(bytes);
        then(controller);
        bytes = new Uint8Array();
      },
    },
    { highWaterMark: 0 },
  );
}

test("an abort at any byte ends the stream as aborted, with what had arrived", async () => {
  for (let cut = 0; cut < WHOLE.length - DONE.length; cut++) {
    const abort = new AbortController();
    const body = bodyOf(WHOLE.slice(0, cut), () => void setImmediate(() => abort.abort()));
    const request = createRequest({ signal: abort.signal, fetch: async () => new Response(body) });
    const { message } = await streamToEnd(chatApi, request);
    expect(message).toMatchObject({ stopReason: "aborted" });
  }
});

test("F122 a cut at any byte is never taken as a whole answer", async () => {
  const needed = new TextDecoder().decode(WHOLE).indexOf("}\n\ndata: [DONE]");
  const neededBytes = new TextEncoder().encode(new TextDecoder().decode(WHOLE).slice(0, needed + 1)).length;
  for (let cut = 0; cut < WHOLE.length; cut++) {
    const body = bodyOf(WHOLE.slice(0, cut), (controller) => controller.close());
    const request = createRequest({ fetch: async () => new Response(body) });
    const { message } = await streamToEnd(chatApi, request);
    expect(message.stopReason).toBe(cut < neededBytes ? "error" : "toolUse");
  }
});
