import fc from "fast-check";
import { expect, test } from "vitest";
import type { Draft, Entry, Message } from "../src/index.ts";
import { TranscriptTree } from "../src/transcript.ts";
import { calls, failure, text } from "./scripted.ts";

const user = (content: string): Draft => ({ type: "message", message: { role: "user", content, timestamp: 1 } });
const said = (message: Message): Draft => ({ type: "message", message });
const result = (toolCallId: string): Draft =>
  said({ role: "toolResult", toolCallId, toolName: "a", content: [], isError: false, timestamp: 1 });
const roles = (messages: readonly Message[]) => messages.map(({ role }) => role);

function tree(...drafts: Draft[]): TranscriptTree {
  const transcript = new TranscriptTree(() => undefined);
  for (const draft of drafts) transcript.append(draft);
  return transcript;
}

test("an entry is frozen when it is appended, and what is not JSON is refused", () => {
  const entry = tree().append(user("hi")) as Entry<"message">;
  expect(Object.isFrozen(entry.message)).toBe(true);
  expect(() => tree().append({ type: "custom", customType: "x", data: (() => {}) as never })).toThrow(
    /cannot be stored/,
  );
});

test("K7: failed and aborted answers are not projected, nor are results without their call", () => {
  const transcript = tree(user("a"), said(failure("server")), result("ghost"), said(text("b")));
  expect(roles(transcript.project())).toEqual(["user", "assistant"]);
});

test("K7 F131: a call without a result is answered in the projection, before the next message and at the end", () => {
  const transcript = tree(user("a"), said(calls(["1", "a"], ["2", "a"])), result("1"), user("b"));
  expect(roles(transcript.project())).toEqual(["user", "assistant", "toolResult", "toolResult", "user"]);
  const cut = tree(user("a"), said(calls(["1", "a"])));
  expect(roles(cut.project())).toEqual(["user", "assistant", "toolResult"]);
  cut.append(result("1"));
  expect(cut.project()[2]).not.toMatchObject({ isError: true });
});

test("F112: a result that was stored after a later message is moved to its call, also when it arrives last", () => {
  const transcript = tree(user("a"), said(calls(["1", "a"], ["2", "a"])), result("1"), user("b"));
  expect(transcript.project()[3]).toMatchObject({ isError: true });
  transcript.append(result("2"));
  expect(roles(transcript.project())).toEqual(["user", "assistant", "toolResult", "toolResult", "user"]);
  expect(transcript.project()[3]).toMatchObject({ toolCallId: "2", isError: false });
});

test("a moved leaf projects its own branch, with the same repair", () => {
  const transcript = tree(user("a"), said(calls(["1", "a"])));
  const fork = transcript.leafId;
  transcript.append(result("1"));
  transcript.append(said(text("one")));
  transcript.moveTo(fork);
  transcript.append(user("other"));
  expect(roles(transcript.project())).toEqual(["user", "assistant", "toolResult", "user"]);
  expect(transcript.children(fork)).toHaveLength(2);
  expect(() => transcript.moveTo("nowhere")).toThrow(/no entry nowhere/);
});

test("a compaction replaces what came before the first entry that it keeps", () => {
  const transcript = tree(user("old"), said(text("older")));
  const kept = transcript.append(user("kept"));
  transcript.append({ type: "compaction", summary: "S", firstKeptEntryId: kept.id, tokensBefore: 9 });
  transcript.append(user("new"));
  const contents = transcript.project().map(({ content }) => content);
  expect(contents[0]).toContain("<summary>\nS\n</summary>");
  expect(contents.slice(1)).toEqual(["kept", "new"]);
  transcript.append({ type: "compaction", summary: "T", firstKeptEntryId: null, tokensBefore: 9 });
  expect(transcript.project()).toHaveLength(1);
});

test("a context edit replaces or leaves out its target, the latest edit last", () => {
  const transcript = tree(user("secret"), said(text("fine")));
  const [first] = transcript.path();
  transcript.append({ type: "context_edit", targetId: first!.id, replacement: { content: "***" } });
  expect(transcript.project()[0]?.content).toBe("***");
  transcript.append({ type: "context_edit", targetId: first!.id, replacement: null });
  expect(roles(transcript.project())).toEqual(["assistant"]);
});

test("shell runs, custom messages and branch summaries become what a provider can send", () => {
  const shell = {
    role: "bashExecution" as const,
    command: "ls",
    output: "",
    cancelled: false,
    truncated: false,
    timestamp: 1,
  };
  const transcript = tree(
    { type: "message", message: shell },
    { type: "message", message: { ...shell, excludeFromContext: true } },
    { type: "custom_message", customType: "note", content: "n", display: true },
    { type: "branch_summary", fromId: "root", summary: "B" },
    { type: "label", targetId: "x", label: "l" },
  );
  expect(roles(transcript.project())).toEqual(["user", "custom", "custom"]);
});

test("source names the entry that a projected message came from", () => {
  const transcript = tree(user("a"), said(calls(["1", "a"])), user("b"));
  const ids = transcript.project().map((message) => transcript.source(message));
  const path = transcript.path().map(({ id }) => id);
  expect(ids).toEqual([path[0], path[1], path[1], path[2]]);
});

test("loading puts the leaf on the last entry that is a place in the conversation", () => {
  const written = tree(user("a"), user("b"));
  const leaf = written.leafId;
  written.append({ type: "label", targetId: leaf!, label: "here" });
  const loaded = tree();
  loaded.load([...written.path()]);
  expect(loaded.leafId).toBe(leaf);
});

const step = fc.oneof(
  fc.constant("user"),
  fc.constant("answer"),
  fc.constant("failure"),
  fc.record({ calls: fc.uniqueArray(fc.constantFrom("a", "b", "c"), { minLength: 1 }) }),
  fc.record({ result: fc.constantFrom("a", "b", "c") }),
  fc.record({ move: fc.nat(30) }),
);

test("K7: whatever is appended and wherever the leaf moves, each call has one result right after it, and growing equals starting anew", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const transcript = tree();
      const ids: string[] = [];
      for (const each of steps) {
        if (each === "user") ids.push(transcript.append(user("u")).id);
        else if (each === "answer") ids.push(transcript.append(said(text("t"))).id);
        else if (each === "failure") ids.push(transcript.append(said(failure("network"))).id);
        else if ("calls" in each)
          ids.push(transcript.append(said(calls(...each.calls.map((id): [string, string] => [id, "a"])))).id);
        else if ("result" in each) ids.push(transcript.append(result(each.result)).id);
        else transcript.moveTo(ids[each.move % (ids.length || 1)] ?? null);
        assertAnswered(transcript.project());
      }
      const anew = tree();
      anew.load([...transcript.path()]);
      expect(roles(anew.project())).toEqual(roles(transcript.project()));
    }),
    { numRuns: process.env.SOAK ? 5_000 : 200 },
  );
});

function assertAnswered(messages: readonly Message[]): void {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") {
      expect(open).toContain(message.toolCallId);
      open = open.filter((id) => id !== message.toolCallId);
    } else {
      expect(open).toEqual([]);
      if (message.role === "assistant")
        open = message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
    }
  }
  expect(open).toEqual([]);
}

test("the newest entry of a type is found from the leaf up, on its branch only, and sealed", () => {
  const transcript = tree(user("a"), user("b"));
  const [first, second] = transcript.path();
  transcript.append({ type: "label", targetId: first!.id, label: "x" });
  transcript.moveTo(first!.id);
  const third = transcript.append(user("c"));
  const stored = new TranscriptTree(() => undefined);
  stored.load([first!, second!, third].map((entry) => structuredClone(entry)));
  for (const each of [transcript.view, stored.view]) {
    expect(each.findLast("message")).toEqual(third);
    expect(each.findLast("message", ({ id }) => id !== third.id)).toEqual(first);
    expect(Object.isFrozen(each.findLast("message"))).toBe(true);
    expect(each.findLast("label")).toBeUndefined();
  }
});

test("stored entries are sealed before anybody gets them, whichever way", () => {
  const entries = tree(user("a"), said(text("b")))
    .path()
    .map((entry) => structuredClone(entry) as Entry<"message">);
  const ways: ((view: TranscriptTree["view"]) => Entry | undefined)[] = [
    (view) => view.get(entries[0]!.id),
    (view) => view.path()[0],
    (view) => view.children(null)[0],
  ];
  for (const way of ways) {
    const stored = new TranscriptTree(() => undefined);
    stored.load(structuredClone(entries));
    expect(Object.isFrozen((way(stored.view) as Entry<"message">).message)).toBe(true);
  }
  const stored = new TranscriptTree(() => undefined);
  stored.load(structuredClone(entries));
  expect(stored.view.project().every((message) => Object.isFrozen(message))).toBe(true);
});

test("what was projected first is sealed and well-formed all the same when somebody looks", () => {
  const stored = new TranscriptTree(() => undefined);
  stored.load([structuredClone(tree(user("a")).path()[0]!)]);
  const entry = stored.path()[0] as Entry<"message">;
  Object.assign(entry.message, { content: "half \ud800" });
  stored.project();
  const [seen] = stored.view.path() as Entry<"message">[];
  expect(Object.isFrozen(seen!.message)).toBe(true);
  expect(seen!.message).toMatchObject({ content: "half \ufffd" });
});

test("a session has the name that it was given last, wherever in the tree that was", () => {
  const transcript = tree(user("a"), user("b"));
  const [first] = transcript.path();
  transcript.append({ type: "session_info", name: "named" });
  transcript.moveTo(first!.id);
  expect(transcript.name).toBe("named");
  transcript.append({ type: "session_info", name: "" });
  expect(transcript.name).toBeUndefined();
});
