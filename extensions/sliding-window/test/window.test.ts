import type { Message } from "@pi-agent/kernel";
import { listStrictProblems } from "@pi-agent/testing";
import { expect, test } from "vitest";
import { cutToWindow, type Window } from "../src/window.ts";
import { conversation, result } from "./conversation.ts";

const last = (size: number, more: Partial<Window> = {}): Window => ({
  size,
  keepFirst: false,
  weigh: () => 1,
  ...more,
});
const chars = (size: number, more: Partial<Window> = {}) =>
  last(size, { weigh: (message) => JSON.stringify(message.content).length, ...more });

/** What is sent, in the letters of the conversation; `+` stands in for the user. */
function sent(text: string, window: Window): string {
  const messages = conversation(text);
  const view = cutToWindow(messages, window);
  return (view?.messages ?? messages)
    .map((message) => {
      if (message.role === "toolResult") return "r";
      if (message.role === "custom") return message.customType === "note" ? "c" : "s";
      if (message.role === "user") return JSON.stringify(message.content).startsWith('"(') ? "+" : "u";
      return message.content.some(({ type }) => type === "toolCall") ? "C" : "a";
    })
    .join("");
}

test("F100: the window of four on a task and six calls is the last two pairs, and begins with a user", () => {
  expect(sent("u111111", last(4))).toBe("+CrCr");
  expect(sent("u111111", last(4, { keepFirst: true }))).toBe("uCr");
  expect(sent("u111111", last(5, { keepFirst: true }))).toBe("uCrCr");
});

test("F100: parallel calls are kept or dropped as a whole", () => {
  expect(sent("u13", last(4))).toBe("+Crrr");
  expect(sent("u31", last(4))).toBe("+Cr");
  expect(sent("u31", last(6))).toBe("+CrrrCr");
});

test("F100: a window that is smaller than the newest pair holds that pair", () => {
  expect(sent("u11", last(1))).toBe("+Cr");
  expect(sent("u15", last(2))).toBe("+Crrrrr");
  expect(sent("u15", last(2, { keepFirst: true }))).toBe("uCrrrrr");
});

test("F100: a window of one is the newest message", () => {
  expect(sent("uau", last(1))).toBe("u");
  expect(sent("uau", last(1, { keepFirst: true }))).toBe("uu");
  expect(sent("ua", last(1))).toBe("+a");
});

test("F100: a history of tools only has a legal cut", () => {
  expect(sent("111111", last(4))).toBe("+CrCr");
  expect(sent("111111", last(4, { keepFirst: true }))).toBe("+CrCr");
  expect(sent("11", last(99))).toBe("CrCr");
});

test("F100: steering and messages of extensions are places to cut, and may begin a window", () => {
  expect(sent("u1u11", last(5))).toBe("uCrCr");
  expect(sent("u1c11", last(5))).toBe("cCrCr");
  expect(sent("u1u11", last(4))).toBe("+CrCr");
});

test("F100: results that somebody put in without a call do not begin a window", () => {
  const messages = [result("lost_1"), result("lost_2"), ...conversation("1u1")];
  for (let size = 1; size < 9; size++) {
    const view = cutToWindow(messages, last(size));
    expect(view?.messages[0]?.role ?? "none", String(size)).not.toBe("toolResult");
  }
  const within = conversation("u11").toSpliced(3, 0, result("lost"));
  expect(cutToWindow(within, last(4))!.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult"]);
});

test("a conversation that fits is left alone", () => {
  for (const window of [last(9), last(5), last(9, { keepFirst: true }), chars(10_000)])
    expect(cutToWindow(conversation("u1ua"), window)).toBeUndefined();
  expect(cutToWindow([], last(3))).toBeUndefined();
});

test("the summary of a compaction is always sent: it stands for all that was said before it", () => {
  expect(sent("s1111", last(3))).toBe("sCr");
  expect(sent("s1111", last(1, { keepFirst: true }))).toBe("sCr");
  expect(sent("s1", last(3))).toBe("sCr");
});

test("tokens: what is kept weighs no more than the window, but for the newest pair", () => {
  const messages = conversation("u1111u1a");
  const weight = (list: readonly Message[]) => list.reduce((sum, each) => sum + chars(0).weigh(each), 0);
  for (const keepFirst of [false, true]) {
    for (let size = 40; size < weight(messages); size += 7) {
      const { messages: kept } = cutToWindow(messages, chars(size, { keepFirst })) ?? { messages };
      const own = kept.filter((message) => messages.includes(message));
      expect(weight(own) <= size || own.length <= (keepFirst ? 2 : 1), `${size}`).toBe(true);
    }
  }
});

test("it says how many messages it left out", () => {
  expect(cutToWindow(conversation("u111111"), last(4))!.dropped).toBe(9);
  expect(cutToWindow(conversation("u111111"), last(4, { keepFirst: true }))!.dropped).toBe(10);
});

test("it looks at no more of the history than at its window", () => {
  const messages = conversation(`u${"1".repeat(50_000)}`);
  let looks = 0;
  const weigh = () => (looks++, 1);
  for (const keepFirst of [false, true]) cutToWindow(messages, last(20, { keepFirst, weigh }));
  expect(looks).toBeLessThan(50);
});

/** A small generator, so that a failure can be played again by its seed. */
function letters(seed: number): string {
  let state = seed;
  const next = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
  const opening = "uuus1a"[next(6)]!;
  return opening + Array.from({ length: 1 + next(24) }, () => "ucaa111235"[next(10)]!).join("");
}

test("F100: at every size, of 300 conversations, the window is well paired, untouched, the newest, and the same twice", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const text = letters(seed);
    const messages = conversation(text);
    const before = structuredClone(messages);
    for (const keepFirst of [false, true]) {
      for (let size = 1; size <= messages.length + 1; size++) {
        const view = cutToWindow(messages, last(size, { keepFirst }));
        expect(view).toEqual(cutToWindow(messages, last(size, { keepFirst })));
        if (!view) continue;
        const at = `${text}, ${size}, ${keepFirst}`;
        expect(listStrictProblems(view.messages), at).toEqual([]);
        const own = view.messages.filter((message) => messages.includes(message));
        const inARow = own.slice(text[0] === "s" || (keepFirst && own.length > 1) ? 1 : 0);
        expect(inARow, at).toEqual(messages.slice(messages.length - inARow.length));
        expect(view.messages.length - own.length, at).toBeLessThanOrEqual(1);
        expect(view.dropped, at).toBe(messages.length - own.length);
      }
    }
    expect(messages).toEqual(before);
  }
});
