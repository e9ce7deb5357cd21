import { expect, test } from "vitest";
import { comparableBlocks, cutLongTexts, type Recording, replayRecording } from "../../src/house.ts";
import { serveReplies, toolCall } from "../../src/provider.ts";

const recording: Recording = {
  name: "made-up",
  folder: "none",
  meta: {
    status: 200,
    model: "m1",
    tags: [],
    responseHeaders: { "x-request-id": "r1", "content-encoding": "gzip", "Content-Length": "3" },
  },
  isStream: true,
  body: Buffer.from("data: é\n\n"),
  oracle: { content: [], stopReason: "stop", usage: undefined as never },
};

async function replay(changes: Partial<Recording["meta"]>, pieceBytes?: number) {
  const made = { ...recording, meta: { ...recording.meta, ...changes } };
  await using server = await serveReplies((response, request) => {
    const write = response.write.bind(response);
    response.write = ((piece: Buffer) => sizes.push(piece.length) && write(piece)) as typeof response.write;
    replayRecording(made, pieceBytes)(response, request);
  });
  const sizes: number[] = [];
  const response = await fetch(server.url);
  expect(Buffer.from(await response.arrayBuffer())).toEqual(recording.body);
  return { sizes, response };
}

test("a recording is replayed whole in pieces of any size, or in the chunks in which it came", async () => {
  expect((await replay({}, 4)).sizes).toEqual([4, 4, 2]);
  expect((await replay({}, Number.POSITIVE_INFINITY)).sizes).toEqual([10]);
  expect((await replay({ chunkByteLengths: [7, 3] })).sizes).toEqual([7, 3]);
  expect((await replay({ chunkByteLengths: [7, 3] }, 8)).sizes).toEqual([8, 2]);
  expect((await replay({})).sizes).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
});

test("the headers of the answer are replayed, those of the recorded connection are not", async () => {
  const { headers } = (await replay({})).response;
  expect(headers.get("x-request-id")).toBe("r1");
  expect(headers.get("content-type")).toBe("text/event-stream");
  expect([headers.get("content-encoding"), headers.get("content-length")]).toEqual([null, null]);
});

test("long texts are cut wherever they are, and nothing else changes", () => {
  const long = "x".repeat(401);
  const value = { a: [long, "x".repeat(400), 1, null], b: { c: long } };
  const cut = `${"x".repeat(120)}…[401 chars]`;
  expect(cutLongTexts(value)).toEqual({ a: [cut, "x".repeat(400), 1, null], b: { c: cut } });
});

test("blocks are compared by what the oracle can tell, and the order of arguments counts", () => {
  const call = toolCall("c1", { arguments: { b: 1, a: 2 }, thoughtSignature: "s" });
  expect(comparableBlocks([{ type: "text", text: "a", textSignature: "s" }, call])).toEqual([
    { type: "text", text: "a" },
    { type: "toolCall", id: "c1", name: "read", arguments: '{"b":1,"a":2}' },
  ]);
});
