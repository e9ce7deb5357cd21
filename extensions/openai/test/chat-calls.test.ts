import type { ToolCall } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { chatApi } from "../src/chat.ts";
import { call, delta, finish, fn, read, readCalls } from "./chat-lines.ts";
import { ask, DONE, sse } from "./support.ts";

const asPairs = (calls: readonly ToolCall[]) => calls.map((one) => [one.name, one.arguments]);

test.each([
  [
    "both with index 0",
    [call({ index: 0, id: "a", ...fn("read", '{"p":1}') }), call({ index: 0, id: "b", ...fn("read", '{"p":2}') })],
  ],
  [
    "no index",
    [
      call({ id: "a", ...fn("read", '{"p":') }),
      call({ id: "a", ...fn("", "1}") }),
      call({ id: "b", ...fn("read", '{"p":2}') }),
    ],
  ],
  ["no index and no id", [call(fn("read", '{"p":')), call(fn(undefined, "1}")), call(fn("read", '{"p":2}'))]],
  [
    "indices 0 and 5, interleaved",
    [
      call({ index: 0, id: "a", ...fn("read", '{"p"') }),
      call({ index: 5, id: "b", ...fn("read", '{"p":2') }),
      call({ index: 0, ...fn(undefined, ":1}") }),
      call({ index: 5, ...fn(undefined, "}") }),
    ],
  ],
  [
    "the name in each chunk",
    [
      call({ index: 0, id: "a", ...fn("read", '{"p"') }),
      call({ index: 0, id: "a", ...fn("read", ":1}") }),
      call({ index: 1, id: "b", ...fn("read", "") }),
      call({ index: 1, ...fn("read", '{"p":2}') }),
    ],
  ],
  [
    "an id that changes",
    [
      call({ index: 0, id: "a", ...fn("read", '{"p"') }),
      call({ index: 0, id: "x", ...fn("read", ":1}") }),
      call({ index: 1, id: "b", ...fn("read", '{"p":2}') }),
    ],
  ],
  [
    "an id and a name that come late",
    [
      call({ index: 0, ...fn(undefined, '{"p"') }),
      call({ index: 0, id: "a", ...fn("read", ":1}") }),
      call({ index: 1, id: "b", ...fn("read", '{"p":2}') }),
    ],
  ],
  [
    "both in one chunk",
    [
      delta({
        tool_calls: [
          { index: 0, id: "a", ...fn("read", '{"p":1}') },
          { index: 1, id: "b", ...fn("read", { p: 2 }) },
        ],
      }),
    ],
  ],
])("F124 two calls with %s are two calls with their own arguments", async (_name, lines) => {
  const calls = await readCalls(...lines);
  expect(asPairs(calls)).toEqual([
    ["read", { p: 1 }],
    ["read", { p: 2 }],
  ]);
  expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
});

test.each([
  ["null", null, {}],
  ["missing", undefined, {}],
  ["an empty text", "", {}],
  ["an object", { path: "a" }, { path: "a" }],
  ["a text", '{"path":"a"}', { path: "a" }],
])("F121 F124 F128 arguments as %s are an object", async (_name, args, expected) => {
  const [one] = await readCalls(call({ index: 0, id: "a", ...fn("read", args) }));
  expect(one?.arguments).toEqual(expected);
  expect(one).not.toHaveProperty("argumentsError");
});

test("F121 F124 arguments that cannot be read are an error of the call, not a crash", async () => {
  const [one] = await readCalls(call({ index: 0, id: "a", ...fn("read", '{"p":1}{"p":2}') }));
  expect(one).toMatchObject({ arguments: {}, argumentsError: expect.stringContaining('{"p":1}{"p":2}') });
});

test("F118 two calls of one name with missing or equal ids get ids of their own, in their order", async () => {
  for (const id of [undefined, null, "", "call_1"]) {
    const calls = await readCalls(
      call({ index: 0, id, ...fn("read", '{"path":"a.txt"}') }),
      call({ index: 1, id, ...fn("read", '{"path":"b.txt"}') }),
    );
    expect(calls.map((one) => one.arguments.path)).toEqual(["a.txt", "b.txt"]);
    expect(new Set(calls.map((one) => one.id)).size).toBe(2);
    for (const one of calls) expect(one.id).toMatch(/^[\w-]{1,40}$/);
  }
});

test("F128 a call of the kind custom keeps its name and its input", async () => {
  const calls = await readCalls(
    call({ index: 0, id: "a", type: "custom", custom: { name: "read", input: '{"p":1}' } }),
  );
  expect(asPairs(calls)).toEqual([["read", { p: 1 }]]);
});

test.each([undefined, null, ""])(
  "a call that never gets a name, but %j, is malformed, and is not kept",
  async (name) => {
    const odd = call({ index: 0, id: "a", type: "function", function: { name, arguments: "{}" } });
    const message = await read(odd, finish("tool_calls"), DONE);
    expect(message).toMatchObject({ content: [], failure: { kind: "malformed_response" } });
  },
);

test("a call in the format of old is a call", async () => {
  const message = await read(
    delta({ function_call: { name: "read", arguments: '{"p"' } }),
    delta({ function_call: { arguments: ":1}" } }),
    finish("function_call"),
    DONE,
  );
  expect(message).toMatchObject({ stopReason: "toolUse", content: [{ name: "read", arguments: { p: 1 } }] });
});

test("names that the api refuses come back as the tool's own", async () => {
  const tools = [{ name: "mcp/files.read", description: "", parameters: {} }];
  const { message } = await ask(
    chatApi,
    (response, request) => {
      const [tool] = (request.body as { tools: { function: { name: string } }[] }).tools;
      expect(tool?.function.name).toMatch(/^[\w-]{1,64}$/);
      sse(call({ index: 0, id: "a", ...fn(tool?.function.name, "{}") }), finish("tool_calls"), DONE)(response, request);
    },
    { tools },
  );
  expect(message.content).toMatchObject([{ name: "mcp/files.read" }]);
});
