import { expect, test } from "vitest";
import { createAgent, type ExtensionAPI, type StreamEvent } from "../src/index.ts";
import { faultsOf, handles, prompt } from "./named.ts";
import { assistant, failure, outline, record, scripted, type Turn, text, whole } from "./scripted.ts";

const start = (): StreamEvent => ({
  type: "start",
  partial: assistant([{ type: "text", text: "half" }], { stopReason: "pending" }),
});
type Stream = () => AsyncGenerator<readonly StreamEvent[]>;

const BROKEN: [what: string, turn: Turn][] = [
  [
    "throws an error at once",
    () => {
      throw new Error("boom");
    },
  ],
  [
    "throws a string at once",
    () => {
      throw "boom";
    },
  ],
  [
    "throws undefined at once",
    () => {
      throw undefined;
    },
  ],
  [
    "throws in mid-stream",
    async function* () {
      yield [start()];
      throw new Error("boom");
    } as Stream,
  ],
  [
    "throws a string in mid-stream",
    async function* () {
      yield [start()];
      throw "boom";
    } as Stream,
  ],
  [
    "throws undefined in mid-stream",
    async function* () {
      yield [start()];
      throw undefined;
    } as Stream,
  ],
  [
    "ends without a terminal event",
    async function* () {
      yield [start()];
    } as Stream,
  ],
  ["says nothing", async function* () {} as Stream],
  [
    "yields what is no list",
    async function* () {
      yield 7 as never;
    } as Stream,
  ],
  [
    "yields what is no event",
    async function* () {
      yield [undefined] as never;
    } as Stream,
  ],
  [
    "is done without a message",
    async function* () {
      yield [start(), { type: "done" }] as never;
    } as Stream,
  ],
  [
    "fails without a message",
    async function* () {
      yield [start(), { type: "error" }] as never;
    } as Stream,
  ],
  [
    "is done with a message of another role",
    async function* () {
      yield whole({ role: "user", content: "x" } as never);
    } as Stream,
  ],
  [
    "is done with content that is none",
    async function* () {
      yield whole({ ...text("x"), content: 7 } as never);
    } as Stream,
  ],
  [
    "is done with blocks that are none",
    async function* () {
      yield whole(assistant([null] as never));
    } as Stream,
  ],
  ["returns no stream", (() => 7) as never],
  ["returns nothing", (() => undefined) as never],
];

test.each(BROKEN)(
  "F139 K2: a provider that %s fails its call, the run settles once and the next prompt works",
  async (_what, turn) => {
    const api = (pi: ExtensionAPI) => {
      scripted()(pi);
      let isFirst = true;
      pi.register("api", "scripted", {
        stream(request) {
          if (!isFirst)
            return (async function* () {
              yield whole(text("fine"));
            })();
          isFirst = false;
          return (turn as (given: unknown) => never)(request);
        },
      });
    };
    const agent = createAgent({ extensions: [api] });
    const events = record(agent);
    const { outcome } = await agent.run("go");
    expect(outcome).toBe("error");
    expect(agent.transcript.path().at(-1)).toMatchObject({
      message: { role: "assistant", stopReason: "error", errorMessage: expect.stringMatching(/\w/) },
    });
    expect(outline(events).slice(-4)).toEqual(["message_end assistant", "turn_end", "agent_end", "agent_settled"]);
    await prompt(agent, "again");
    expect(agent.transcript.project().at(-1)).toMatchObject({ content: [{ text: "fine" }] });
  },
);

test("F139: a provider that ends twice is heard once, and one that goes on is closed", async () => {
  let isClosed = false;
  const talker = scripted(async function* (): AsyncGenerator<readonly StreamEvent[]> {
    try {
      yield whole(text("first"));
      yield whole(failure("server"));
    } finally {
      isClosed = true;
    }
  });
  const agent = createAgent({ extensions: [talker] });
  const events = record(agent);
  expect(await agent.run("go")).toMatchObject({ answer: "first", outcome: "done" });
  expect(outline(events).filter((type) => type === "message_end assistant")).toHaveLength(1);
  expect(isClosed).toBe(true);
});

test("K2: a stream that starts twice, or ends without having started, still gives one start and one end", async () => {
  for (const turn of [
    async function* () {
      yield [start(), start()];
      yield whole(text("x")).slice(1);
    },
    async function* () {
      yield whole(text("x")).slice(1);
    },
  ] as Stream[]) {
    const agent = createAgent({ extensions: [scripted(turn)] });
    const events = record(agent);
    expect((await agent.run("go")).answer).toBe("x");
    expect(outline(events).filter((type) => type.endsWith("assistant"))).toEqual([
      "message_start assistant",
      "message_end assistant",
    ]);
  }
});

test("K13: a provider_call handler that throws refuses the call, and is reported", async () => {
  const provider = scripted();
  const budget = handles("budget", "provider_call", () => {
    throw new Error("The budget is used up.");
  });
  const agent = createAgent({ extensions: [provider, budget] });
  const faults = faultsOf(agent);
  expect((await agent.run("go")).outcome).toBe("error");
  expect(provider.requests).toHaveLength(0);
  expect(agent.transcript.path().at(-1)).toMatchObject({
    message: { errorMessage: expect.stringContaining("budget is used up") },
  });
  expect(faults).toEqual([expect.stringMatching(/^budget provider_call /)]);
});

test("K13: a provider_call handler that answers with no stream fails the call", async () => {
  const provider = scripted();
  const agent = createAgent({ extensions: [provider, handles("bad", "provider_call", () => 7)] });
  expect((await agent.run("go")).outcome).toBe("error");
  await expect(agent.run("again")).resolves.toMatchObject({ outcome: "error" });
});
