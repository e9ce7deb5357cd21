import { createAgent, type Draft, type Entry } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { copyWay, leafFor, leftBehind } from "../src/tree.ts";

const said = (text: string): Draft => ({ type: "message", message: { role: "user", content: text, timestamp: 1 } });
const note = (data: string): Draft => ({ type: "custom", customType: "note", data });

/** a ─ b ─┬─ c ─ d
 *         └─ e */
async function grow() {
  const agent = createAgent();
  await agent.ready();
  const [a, b, c, d] = agent.append([said("a"), note("b"), said("c"), note("d")]) as [Entry, Entry, Entry, Entry];
  agent.moveTo(b.id);
  const [e] = agent.append([note("e")]) as [Entry];
  return { agent, transcript: agent.transcript, a, b, c, d, e };
}

test("what a person said is said anew from before it, all else goes on from after it", async () => {
  const { a, b, c } = await grow();
  expect([a, b, c].map(leafFor)).toEqual([null, b.id, b.id]);
});

test("what is left behind comes after the deepest entry that both ways share", async () => {
  const { transcript, a, b, c, d, e } = await grow();
  const ids = (from: string | null, to: string | null) => {
    const { commonAncestorId, entries } = leftBehind(transcript, { from, to });
    return [commonAncestorId, entries.map(({ id }) => id)];
  };
  expect(ids(e.id, d.id)).toEqual([b.id, [e.id]]);
  expect(ids(d.id, e.id)).toEqual([b.id, [c.id, d.id]]);
  expect(ids(d.id, a.id)).toEqual([a.id, [b.id, c.id, d.id]]);
  expect(ids(a.id, d.id)).toEqual([a.id, []]);
  expect(ids(e.id, null)).toEqual([null, [a.id, b.id, e.id]]);
  expect(ids(null, e.id)).toEqual([null, []]);
});

test("a copy is one line, with the newest label of each of its entries at the end, wherever that was set", async () => {
  const { agent, transcript, a, b, d, e } = await grow();
  agent.moveTo(b.id);
  agent.append([{ type: "label", targetId: b.id, label: "old" }, note("after the label")]);
  const { leafId } = transcript;
  agent.moveTo(d.id);
  agent.append([
    { type: "label", targetId: b.id, label: "new" },
    { type: "label", targetId: a.id, label: "gone" },
    { type: "label", targetId: a.id, label: undefined },
    { type: "label", targetId: e.id, label: "elsewhere" },
  ]);
  const copy = copyWay(transcript, leafId);
  expect(copy.map((entry) => (entry.type === "label" ? entry.label : entry.type))).toEqual([
    "message",
    "custom",
    "custom",
    "new",
  ]);
  copy.forEach(({ parentId }, at) => expect(parentId).toBe(copy[at - 1]?.id ?? null));
  expect(copyWay(transcript, null)).toEqual([]);
});

test("a compaction that kept from a label on keeps from the next entry on", async () => {
  const { agent, transcript, b } = await grow();
  agent.moveTo(b.id);
  const [label, kept] = agent.append([{ type: "label", targetId: b.id, label: "x" }, note("kept")]);
  agent.append([{ type: "compaction", summary: "s", firstKeptEntryId: label!.id, tokensBefore: 1 }]);
  const compaction = copyWay(transcript, transcript.leafId).find(({ type }) => type === "compaction");
  expect(compaction).toMatchObject({ firstKeptEntryId: kept!.id });
});

test("F107: a copy has the session's newest name, wherever that was given, and none that was taken back", async () => {
  const { agent, transcript, b, d } = await grow();
  const names = () => copyWay(transcript, d.id).flatMap((entry) => (entry.type === "session_info" ? [entry.name] : []));
  agent.append([{ type: "session_info", name: "old" }]);
  agent.moveTo(b.id);
  await new Promise((resolve) => setTimeout(resolve, 2));
  agent.append([{ type: "session_info", name: "new" }]);
  expect(names()).toEqual(["new"]);
  await new Promise((resolve) => setTimeout(resolve, 2));
  agent.append([{ type: "session_info", name: "" }]);
  expect(names()).toEqual([]);
});
