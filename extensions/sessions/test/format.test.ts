import { describe, expect, test } from "vitest";
import { parseSession } from "../src/format.ts";
import { header, lines, message } from "./support.ts";

function kinds(text: string): string[] {
  return parseSession(text)!.problems.map(({ kind }) => kind);
}

function ids(text: string): string[] {
  return parseSession(text)!.entries.map(({ id }) => id);
}

const whole = lines(header(), message("a", null), message("b", "a"));

test("a sound file gives its header and entries as they are, and no problem", () => {
  const parsed = parseSession(whole)!;
  expect(parsed.header).toEqual(header());
  expect(parsed.entries).toEqual([message("a", null), message("b", "a")]);
  expect(parsed).toMatchObject({ problems: [], isOutdated: false });
});

test("a text without a header is no session", () => {
  for (const text of ["", "\n", "null\n", lines(message("a", null)), "binary \0\u0001"]) {
    expect(parseSession(text)).toBeUndefined();
  }
});

test("unknown entry types and unknown fields survive untouched", () => {
  const strange = {
    type: "from_the_future",
    id: "x",
    parentId: "a",
    timestamp: "t",
    data: { deep: [1, null] },
    odd: 1,
  };
  const parsed = parseSession(
    lines(header({ theirs: { kept: true } }), message("a", null, "a", { more: 2 }), strange),
  )!;
  expect(parsed.header).toEqual(header({ theirs: { kept: true } }));
  expect(parsed.entries).toEqual([message("a", null, "a", { more: 2 }), strange]);
  expect(parsed.problems).toEqual([]);
});

test("a file of a newer version is read as it is, and that is told", () => {
  const parsed = parseSession(lines(header({ version: 4 }), message("a", null)))!;
  expect(parsed.header.version).toBe(4);
  expect(parsed).toMatchObject({ isOutdated: false, problems: [{ kind: "newer_version" }] });
});

describe("F103 glued, blank, foreign and NUL-filled lines", () => {
  const a = JSON.stringify(message("a", null));
  const b = JSON.stringify(message("b", "a"));
  const first = lines(header());
  const cases: [name: string, text: string, ids: string[], problems: string[]][] = [
    ["two entries on one line", `${first}${a}${b}\n`, ["a", "b"], ["glued"]],
    ["a torn entry with the next one behind it", `${first}${a}\n${b.slice(0, 50)}${b}\n`, ["a", "b"], ["unreadable"]],
    ["a torn text with braces and quotes", `${first}${a.slice(0, -4)}{"{${b}\n`, ["b"], ["unreadable", "no_parent"]],
    [
      "a raw line feed in a string",
      `${first}${a}\n{"type":"message","id":"b\n","x":1}\n`,
      ["a"],
      ["unreadable", "unreadable"],
    ],
    ["4,096 zero bytes at the end", `${first}${a}\n${"\0".repeat(4096)}`, ["a"], ["nul"]],
    ["zero bytes before a line", `${first}${"\0".repeat(100)}${a}\n${b}\n`, ["a", "b"], ["nul"]],
    ["CRLF", `${first}${a}\n${b}\n`.replaceAll("\n", "\r\n"), ["a", "b"], []],
    ["a byte order mark", `\uFEFF${first}${a}\n`, ["a"], []],
    ["blank lines", `\n \n${first}\n\t\n${a}\n\n`, ["a"], []],
    [
      "null, [], 123 and text",
      `${first}null\n[]\n123\n"x"\n${a}\n`,
      ["a"],
      ["foreign", "foreign", "foreign", "foreign"],
    ],
    ["an object without a type", `${first}{"id":"x"}\n${a}\n`, ["a"], ["foreign"]],
    ["a second header", `${first}${a}\n${first}${b}\n`, ["a", "b"], ["foreign"]],
    ["U+2028 in a string", `${first}${lines(message("a", null, "x\u2028y\u2029z"))}`, ["a"], []],
    [
      "a message entry without a message",
      `${first}${a}\n${lines({ ...message("b", "a"), message: null })}`,
      ["a"],
      ["bad_message"],
    ],
  ];
  test.each(cases)("%s", (_, text, expectedIds, expectedProblems) => {
    expect(ids(text)).toEqual(expectedIds);
    expect(kinds(text)).toEqual(expectedProblems);
  });

  test("an entry without an id gets one, and its place", () => {
    const { id: _, ...nameless } = message("b", "a") as { id: string };
    const text = lines(header(), message("a", null), nameless, message("c", "a"));
    const parsed = parseSession(text)!;
    expect(parsed.entries.map(({ parentId }) => parentId)).toEqual([null, "a", "a"]);
    expect(parsed.entries[1]!.id).toMatch(/^[0-9a-f]{8}$/);
    expect(parsed).toMatchObject({ problems: [{ kind: "no_id" }], isOutdated: true });
    expect(parseSession(text)).toEqual(parsed);
  });

  test("a line of 40 MB is an entry like any other", () => {
    const text = lines(header(), message("a", null, "x".repeat(40_000_000)), message("b", "a"));
    expect(ids(text)).toEqual(["a", "b"]);
    expect(kinds(text)).toEqual([]);
  });

  test("a damaged line of many objects is given up in bounded time", () => {
    const text = `${lines(header())}${'{"type":"text","x":'.repeat(200_000)}\n${lines(message("a", null))}`;
    expect(ids(text)).toEqual(["a"]);
  });
});

test("S2 a torn last line is set aside, and everything before it is there", () => {
  const last = JSON.stringify(message("c", "b", "ä€😀"));
  for (let cut = 1; cut < last.length; cut++) {
    const parsed = parseSession(whole + last.slice(0, cut))!;
    expect(parsed.entries.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(parsed.problems).toEqual([{ kind: "torn", line: 4 }]);
  }
  expect(ids(whole + last)).toEqual(["a", "b", "c"]);
  expect(kinds(whole + last)).toEqual([]);
});

describe("older versions are migrated in memory", () => {
  const said = { role: "user", content: "x", timestamp: 1 };
  test("version 1: ids and parents follow the file, a compaction names what it kept by id", () => {
    const { version: _, ...first } = header() as { version: number };
    const text = lines(
      { ...first, provider: "p" },
      { type: "message", timestamp: "t", message: said },
      { type: "message", timestamp: "t", message: said },
      { type: "compaction", timestamp: "t", summary: "s", firstKeptEntryIndex: 2, tokensBefore: 9 },
      { type: "compaction", timestamp: "t", summary: "s", firstKeptEntryIndex: 0, tokensBefore: 9 },
      { type: "compaction", timestamp: "t", summary: "s", firstKeptEntryIndex: 99, tokensBefore: 9 },
    );
    const parsed = parseSession(text)!;
    expect(parsed.header).toMatchObject({ version: 3, provider: "p" });
    expect(parsed.entries.map(({ id, parentId }) => [id, parentId])).toEqual([
      ["00000001", null],
      ["00000002", "00000001"],
      ["00000003", "00000002"],
      ["00000004", "00000003"],
      ["00000005", "00000004"],
    ]);
    expect(parsed.entries.slice(2)).toMatchObject([
      { firstKeptEntryId: "00000002" },
      { firstKeptEntryId: null },
      { firstKeptEntryId: null },
    ]);
    expect(parsed.entries[2]).not.toHaveProperty("firstKeptEntryIndex");
    expect(parsed).toMatchObject({ problems: [], isOutdated: true });
    expect(parseSession(text)).toEqual(parsed);
  });

  test("version 2: the messages of extensions have the role custom", () => {
    const hook = message("a", null, "a", { message: { ...said, role: "hookMessage", customType: "note" } });
    const parsed = parseSession(lines(header({ version: 2 }), hook))!;
    expect(parsed.entries[0]).toMatchObject({ id: "a", message: { role: "custom", customType: "note" } });
    expect(parsed).toMatchObject({ isOutdated: true, header: { version: 3 } });
  });
});
