import { expect, test } from "vitest";
import { createAgent, type Entry } from "../src/index.ts";
import { calls, failure, gate, resultTexts, scripted, text, tool } from "./scripted.ts";

test("K12: continue goes on after an abort in the tools and after a failed answer, from where the branch stands", async () => {
  const started = gate();
  const provider = scripted(calls(["1", "wait"]), failure("server"), text("fine"));
  const wait = tool("wait", (_args, signal) => {
    started.open();
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve("stopped"), { once: true }));
  });
  const agent = createAgent({ extensions: [provider, wait] });
  await agent.input("go");
  await started.promise;
  await agent.abort();
  expect(await agent.continue()).toBe("error");
  expect(await agent.continue()).toBe("done");
  for (const request of provider.requests.slice(1))
    expect(request.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult"]);
});

test("K12: continue while a run is going on says so", async () => {
  const started = gate();
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "wait"])),
      tool("wait", (_args, signal) => {
        started.open();
        return new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      }),
    ],
  });
  await agent.input("go");
  await started.promise;
  await expect(agent.continue()).rejects.toMatchObject({ code: "busy" });
  await expect(agent.run("x")).rejects.toMatchObject({ code: "busy" });
  await agent.abort();
});

test("K12: of several dangling calls only those without a result are answered, and the answers stay in the transcript", async () => {
  const at = { timestamp: "2026-01-01T00:00:00.000Z" };
  const done = {
    role: "toolResult" as const,
    toolCallId: "1",
    toolName: "a",
    content: [],
    isError: false,
    timestamp: 1,
  };
  const entries: Entry[] = [
    { type: "message", id: "00000001", parentId: null, ...at, message: { role: "user", content: "hi", timestamp: 1 } },
    { type: "message", id: "00000002", parentId: "00000001", ...at, message: calls(["1", "a"], ["2", "a"]) },
    { type: "message", id: "00000003", parentId: "00000002", ...at, message: done },
  ];
  const provider = scripted();
  const agent = createAgent({ extensions: [provider, tool("a")], entries });
  await agent.continue();
  const stored = agent.transcript
    .path()
    .filter((entry) => entry.type === "message" && entry.message.role === "toolResult");
  expect(stored).toHaveLength(2);
  expect(resultTexts(agent)["2"]).toContain("outcome unknown");
  expect(provider.requests[0]?.messages.map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "toolResult",
    "toolResult",
  ]);
});

test("K12: a refused continue leaves the transcript as it was, and the agent idle", async () => {
  const agent = createAgent({ extensions: [scripted()] });
  await agent.run("go");
  const before = agent.transcript.size;
  await expect(agent.continue()).rejects.toMatchObject({ code: "cannot_continue", hint: expect.any(String) });
  expect(agent.transcript.size).toBe(before);
  expect(await agent.input("next")).toBe("started");
  await agent.settled();
});
