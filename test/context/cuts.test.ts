import compaction from "@pi-agent/compaction";
import type { Message } from "@pi-agent/kernel";
import slidingWindow from "@pi-agent/sliding-window";
import type { Turn } from "@pi-agent/testing";
import { WIRE_PROVIDERS } from "@pi-agent/testing/wire";
import { expect, test } from "vitest";
import { chanceOf, planConversation, playConversation } from "./long-conversation.ts";
import { look, prompt, startWireAgent, type WireAgent, type WireName } from "./wire-agent.ts";

const IS_SOAK = Boolean(process.env.SOAK);
const COUNT = IS_SOAK ? 200 : 12;
const STEPS = IS_SOAK ? 12 : 9;
/** So many cuts of a kind are tried in one conversation; in a soak, every one. */
const MOST_CUTS = IS_SOAK ? Number.POSITIVE_INFINITY : 5;

const SEEDS = Array.from({ length: COUNT }, (_, at) => at + 1);
/** In a soak each conversation is had with every format; else the formats take turns. */
const CASES = SEEDS.flatMap((seed) => {
  const wires = IS_SOAK ? WIRE_PROVIDERS : [WIRE_PROVIDERS[seed % WIRE_PROVIDERS.length]!];
  return wires.map((wire): [number, WireName] => [seed, wire]);
});

/** Some of a list, from its first to its last. */
function sample<T>(all: readonly T[], most = MOST_CUTS): readonly T[] {
  if (all.length <= most) return all;
  return Array.from({ length: most }, (_, at) => all[Math.round((at * (all.length - 1)) / (most - 1))]!);
}

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

/** Goes on from a place, once, and fails where a server took none of it. */
async function goOn(it: WireAgent, leaf: string, how: string): Promise<void> {
  const { length } = it.server.requests;
  it.agent.moveTo(leaf);
  await prompt(it.agent, "And now?");
  expect([it.server.refusals(), it.faults], how).toEqual([[], []]);
  expect(it.server.requests.length, how).toBe(length + 1);
}

async function goOnInWindows(it: WireAgent, leaf: string, how: string): Promise<void> {
  const chance = chanceOf(leaf.length);
  const count = it.agent.transcript.project(leaf).length;
  for (const key of ["messages", "tokens"]) {
    const sizes = key === "messages" ? upTo(count + 1) : sizesInTokens(it.agent.transcript.project(leaf));
    // Sizes in tokens cut at the same places: a few show that they do.
    for (const size of key === "messages" ? sample(sizes) : sample(sizes, 8)) {
      it.settings.set(`slidingWindow.${key}`, size);
      it.settings.set("slidingWindow.keepFirst", chance(2) === 0);
      await goOn(it, leaf, `${how}, a window of ${size} ${key}`);
    }
    it.settings.delete(`slidingWindow.${key}`);
  }
}

/** What the last messages of a conversation weigh, for each number of them. */
function sizesInTokens(messages: readonly Message[]): number[] {
  let tokens = 0;
  return messages.toReversed().map(({ content }) => (tokens += Math.ceil(JSON.stringify(content).length / 4)));
}

async function start(seed: number, wire: WireName) {
  const turns: Turn[] = [];
  const script = () => turns.shift() ?? { text: "Fine." };
  const it = await startWireAgent({ wire, script, extensions: [slidingWindow, compaction, look] });
  if (seed % 3 === 1) it.settings.set("slidingWindow.messages", 1 + (seed % 11));
  if (seed % 3 === 2) it.settings.set("slidingWindow.tokens", 20 * (1 + (seed % 11)));
  await playConversation(it, turns, planConversation(seed, STEPS));
  for (const key of it.settings.keys()) it.settings.delete(key);
  expect([it.server.refusals(), it.faults], `seed ${seed}, as it went`).toEqual([[], []]);
  const { leafId } = it.agent.transcript;
  return { it, leaf: leafId! };
}

async function goOnKeptFromAnyEntry(it: WireAgent, leaf: string, how: string): Promise<void> {
  for (const { id, type } of sample(it.agent.transcript.path(leaf))) {
    it.agent.moveTo(leaf);
    it.agent.append([{ type: "compaction", summary: "Much was seen.", firstKeptEntryId: id, tokensBefore: 1 }]);
    await goOn(it, it.agent.transcript.leafId!, `${how}, kept from ${type} ${id}`);
  }
}

async function goOnCompacted(it: WireAgent, leaf: string, how: string): Promise<void> {
  const service = it.agent.service("compaction")!;
  for (const tokens of sample([0, ...sizesInTokens(it.agent.transcript.project(leaf))])) {
    it.settings.set("compaction.keepRecentTokens", tokens);
    it.agent.moveTo(leaf);
    const made = await service.compact().catch((thrown: Error & { code?: string }) => {
      // So little was said that there is nothing to sum up, or that no summary is shorter.
      expect(`${thrown.code} ${thrown.message}`, how).toMatch(/^nothing_to_compact|no shorter than/);
    });
    if (!made) continue;
    const compacted = it.agent.transcript.leafId!;
    const { length } = it.agent.transcript.project(compacted);
    for (const size of [length, 1 + Math.floor(length / 2)]) {
      it.settings.set("slidingWindow.messages", size);
      await goOn(it, compacted, `${how}, ${tokens} tokens kept, a window of ${size}`);
    }
    it.settings.delete("slidingWindow.messages");
  }
}

test.for(CASES)(
  "F088 F100 K7: conversation %i on %s is taken in any window, after a compaction anywhere, and in both",
  async ([seed, wire]) => {
    const { it, leaf } = await start(seed, wire);
    await using _ = it;
    const how = `seed ${seed}`;
    await goOn(it, leaf, `${how}, whole`);
    await goOnInWindows(it, leaf, how);
    await goOnKeptFromAnyEntry(it, leaf, how);
    await goOnCompacted(it, leaf, how);
  },
);
