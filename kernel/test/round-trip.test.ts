import { expect, test } from "vitest";
import { createAgent, type Entry, type ExtensionAPI, type StreamEvent } from "../src/index.ts";
import { prompt } from "./named.ts";
import { assistant, calls, model, scripted, text, tool, whole } from "./scripted.ts";

test("K15: unknown fields and entry types of a stored session survive, and are sent on", async () => {
  const at = { timestamp: "2026-01-01T00:00:00.000Z", future: { deep: [1] } };
  const user = { role: "user", content: [{ type: "text", text: "hi", mark: 1 }], timestamp: 1, extra: true };
  const answer = { ...text("yes"), providerBlocks: [{ index: 0, block: { odd: 1 } }], anything: "kept" };
  const entries = [
    { type: "message", id: "00000001", parentId: null, ...at, message: user },
    { type: "message", id: "00000002", parentId: "00000001", ...at, message: answer },
    { type: "from_the_future", id: "00000003", parentId: "00000002", ...at, data: 1 },
  ] as unknown as Entry[];
  const provider = scripted();
  const agent = createAgent({ extensions: [provider], entries: structuredClone(entries) });
  await prompt(agent, "next");
  expect(agent.transcript.path().slice(0, 3)).toEqual(entries);
  expect(provider.requests[0]?.messages.slice(0, 2)).toEqual([user, answer]);
});

test("K15: what a tool and a hook add to a result survives in the transcript", async () => {
  const odd = tool("a", () => ({ content: [{ type: "text", text: "x", mark: 1 }], details: { n: 1 } }));
  const agent = createAgent({ extensions: [scripted(calls(["1", "a"])), odd] });
  await agent.run("go");
  expect(agent.transcript.project()[2]).toMatchObject({ content: [{ mark: 1 }], details: { n: 1 } });
});

test("K15: after a change of provider the next request still holds everything that was said", async () => {
  const other = { ...model, id: "other", provider: "other", api: "other" };
  const requests: unknown[] = [];
  const second = (pi: ExtensionAPI) => {
    pi.registerProvider({ id: "other", api: "other", models: [other], env: [] });
    pi.register("api", "other", {
      async *stream(request): AsyncGenerator<readonly StreamEvent[]> {
        requests.push(...structuredClone(request.messages));
        yield whole(assistant([{ type: "text", text: "other" }], { api: "other", provider: "other", model: "other" }));
      },
    });
  };
  const signed = assistant(
    [
      { type: "thinking", thinking: "hm", thinkingSignature: "sig" },
      { type: "text", text: "x", textSignature: "t" },
    ],
    { providerBlocks: [{ index: 2, block: { type: "odd" } }] },
  );
  const agent = createAgent({ extensions: [scripted(signed), second] });
  await prompt(agent);
  const before = structuredClone(agent.transcript.path());
  expect(await agent.setModel(other)).toBe(true);
  await prompt(agent, "again");
  expect(requests[1]).toMatchObject({ content: signed.content, providerBlocks: signed.providerBlocks });
  expect(agent.transcript.path().slice(0, before.length)).toEqual(before);
});
