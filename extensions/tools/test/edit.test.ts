import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gatherEdits } from "../src/edit.ts";
import { assertUnchanged } from "../src/file-version.ts";
import { createEditTool } from "../src/index.ts";
import { type CallOutcome, call, tempFolder } from "./tool-call.ts";

const edit = createEditTool();

interface Edited extends CallOutcome {
  bytes: Buffer;
}

/** Edits a file with the given content; one `[old, new]` after the other. */
async function editOf(content: string | Buffer, ...edits: [string, string][]): Promise<Edited> {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "file"), content);
  const list = edits.map(([oldText, newText]) => ({ oldText, newText }));
  const outcome = await call(edit, { path: "file", edits: list }, { cwd });
  return { ...outcome, bytes: readFileSync(join(cwd, "file")) };
}

test("an edit answers its diff, its patch and the first changed line", async () => {
  const { text, details } = await editOf("one\ntwo\nthree\n", ["two", "2"]);
  expect(text).toBe("Successfully replaced 1 block(s) in file.");
  expect(details).toEqual({
    diff: " 1 one\n-2 two\n+2 2\n 3 three",
    patch: "--- file\n+++ file\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
    firstChangedLine: 2,
  });
});

test("F058 characters that mean something to replace functions and patterns stay what they are", async () => {
  const newText = 'log("$& ok $$HOME $1 $\' $` done");';
  expect((await editOf('log("done");\n', ['log("done");', newText])).bytes.toString()).toBe(`${newText}\n`);
  const both = await editOf("a.b*(c)[d]\nx\n", ["a.b*(c)[d]", "$&"], ["x", "$1$$"]);
  expect(both.bytes.toString()).toBe("$&\n$1$$\n");
  expect(both.details).toMatchObject({ diff: "-1 a.b*(c)[d]\n+1 $&\n-2 x\n+2 $1$$" });
});

test("F059 a near match changes its own bytes only, and is said", async () => {
  const around = Array.from({ length: 200 }, (_, line) => `line ${line}: \u201cq\u201d \u2014 \u00a0x\t  `);
  around[120] = "say \u201chello\u201d\u00a0now  ";
  const { text, bytes, details } = await editOf(around.join("\n"), ['say "hello" now', 'say "bye" now']);
  around[120] = 'say "bye" now  ';
  expect(bytes.toString()).toBe(around.join("\n"));
  expect(text).toContain("edits[0].oldText was not exact: it matched at line 121");
  expect(details).toMatchObject({ approximate: [{ edit: 0, line: 121 }], firstChangedLine: 121 });
});

test("F059 a near match in two places is refused", async () => {
  const content = "\u201ca\u201d\n\u2018\u2018\n\u201ca\u201d\n";
  const { isError, text, bytes } = await editOf(content, ['"a"', "b"]);
  expect(isError).toBe(true);
  expect(text).toContain("Found 2 occurrences of oldText (lines 1, 3)");
  expect(bytes.toString()).toBe(content);
});

test.each([
  ["an LF line in a mixed file", "a\r\nb\nc\r\n", "b", "B1\nB2", "a\r\nB1\nB2\nc\r\n"],
  ["CRLF lines given as LF", "a\r\nb\r\nc\r\n", "a\nb", "A\nB\nC", "A\r\nB\r\nC\r\nc\r\n"],
  ["CRLF in both texts", "a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n"],
  ["CRLF given for an LF file", "a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"],
  ["a lone CR in a line", "10%\r20%\rdone\nnext\n", "20%\rdone", "30%\rdone", "10%\r30%\rdone\nnext\n"],
  ["an old Macintosh file", "a\rb\rc", "b", "B\nC", "a\rB\rC\rc"],
  ["no final newline", "a\r\nb", "b", "B\nC", "a\r\nB\r\nC"],
  ["a CR that would meet a line break", "a\r\nb\r\n", "b", "B\r", "a\r\nB\r\n\r\n"],
])("F061 line endings: %s", async (_name, before, oldText, newText, after) => {
  const { bytes } = await editOf(before, [oldText, newText]);
  expect(bytes.toString()).toBe(after);
  expect(bytes.includes("\r\r\n")).toBe(false);
});

test.each([
  ["Latin-1", Buffer.from("caf\xe9 = 1\nx = 2\n", "latin1"), "line 1 holds bytes that are not UTF-8, the first 0xE9"],
  ["Shift-JIS", Buffer.from([0x93, 0xfa, 0x0a, ...Buffer.from("x = 2\n")]), "the first 0x93"],
  [
    "one bad byte far away",
    Buffer.concat([Buffer.from(`x = 2\n${"a\n".repeat(35_000)}`), Buffer.from([0xff])]),
    "line 35002",
  ],
])("F062 a file that is not UTF-8 is refused and keeps its bytes: %s", async (_name, content, problem) => {
  const { isError, text, bytes } = await editOf(content, ["x = 2", "x = 3"]);
  expect(isError).toBe(true);
  expect(text).toContain(problem);
  expect(text).toContain("iconv");
  expect(bytes.equals(content)).toBe(true);
});

test("F062 NUL, byte order marks and UTF-16 survive an edit", async () => {
  expect((await editOf("a\0b\nx = 2\n", ["x = 2", "x = 3"])).bytes.toString()).toBe("a\0b\nx = 3\n");
  expect((await editOf("\ufeffx = 2\n", ["x = 2", "x = 3"])).bytes.toString()).toBe("\ufeffx = 3\n");
  const wide = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");
  expect((await editOf(wide("é = 2\r\n"), ["é = 2", "é = 3"])).bytes.equals(wide("é = 3\r\n"))).toBe(true);
  const big = await editOf(wide("é = 2\n").swap16(), ["2", "3"]);
  expect(big.bytes.equals(wide("é = 3\n").swap16())).toBe(true);
});

test("F064 F065 an edit keeps the mode, and goes through a link", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "run.sh"), "echo old\n");
  chmodSync(join(cwd, "run.sh"), 0o750);
  symlinkSync("run.sh", join(cwd, "link"));
  await call(edit, { path: "link", edits: [{ oldText: "old", newText: "new" }] }, { cwd });
  expect(readFileSync(join(cwd, "run.sh"), "utf8")).toBe("echo new\n");
  expect(statSync(join(cwd, "run.sh")).mode & 0o7777).toBe(0o750);
});

test("F068 a file with a leading dash or brackets is edited by its name", async () => {
  const cwd = tempFolder();
  for (const path of ["-rf", "[x].ts", "a\nb"]) {
    writeFileSync(join(cwd, path), "old");
    await call(edit, { path, edits: [{ oldText: "old", newText: "new" }] }, { cwd });
    expect(readFileSync(join(cwd, path), "utf8")).toBe("new");
  }
});

test.each<[string, string, [string, string][], string]>([
  ["an empty old text in an empty file", "", [["", "x"]], "oldText is empty.\nThe file is empty: fill it with write."],
  ["an empty old text", "a", [["", "x"]], "oldText is empty."],
  ["old and new the same", "a", [["a", "a"]], "No change"],
  ["two places", "x\na\nb\na\n", [["a", "c"]], "Found 2 occurrences of oldText (lines 2, 4)"],
  ["places that overlap", "aaa", [["aa", "b"]], "Found 2 occurrences"],
  [
    "text that only the first edit brings",
    "a\n",
    [
      ["a", "b"],
      ["b", "c"],
    ],
    "Could not find edits[1].oldText",
  ],
  [
    "edits that overlap",
    "one two three",
    [
      ["one two", "1"],
      ["two three", "2"],
    ],
    "edits[0] and edits[1] overlap in the file.",
  ],
  ["no edits", "a", [], "edits must contain at least one replacement"],
  ["only blanks, twice there", "a  b  c", [["  ", " "]], "Found 2 occurrences"],
])("F070 %s is an error, and the file stays as it was", async (_name, content, edits, problem) => {
  const { isError, text, bytes } = await editOf(content, ...edits);
  expect(isError).toBe(true);
  expect(text).toContain(problem);
  expect(bytes.toString()).toBe(content);
});

test.each<[string, string, [string, string][], string]>([
  ["the whole file", "all of it\n", [["all of it\n", "new"]], "new"],
  ["nothing in its place", "a\nb\n", [["a\n", ""]], "b\n"],
  [
    "two edits of one line",
    "one two three\n",
    [
      ["three", "3"],
      ["one", "1"],
    ],
    "1 two 3\n",
  ],
  [
    "edits that touch",
    "ab",
    [
      ["a", "1"],
      ["b", "2"],
    ],
    "12",
  ],
  ["blanks that are unique", "a b  c", [["  ", " "]], "a b c"],
])("F070 %s is replaced", async (_name, content, edits, result) => {
  expect((await editOf(content, ...edits)).bytes.toString()).toBe(result);
});

const INDENTED = "\tif (x)  {\n\t\treturn  1;\n\t}";

test.each([
  [
    "blanks for tabs",
    "    if (x)  {\n        return  1;\n    }",
    "line 1, column 1: the file has a tab, oldText has a blank",
  ],
  ["single blanks", "\tif (x) {\n\t\treturn 1;\n\t}", 'line 1, column 9: the file has a blank, oldText has "{"'],
  ["a line missing", "\tif (x)  {\n\t}", 'line 2, column 2: the file has a tab, oldText has "}"'],
  ["a newline too many", `${INDENTED}\n`, "the difference is in the line breaks"],
  ["another no-break space", "\tif\u00a0(y)  {\n\t\treturn  1;\n\t}", "the file has a blank, oldText has U+00A0"],
])("F071 the error shows the nearest text and the first difference: %s", async (_name, oldText, difference) => {
  const { isError, text, bytes } = await editOf(INDENTED, [oldText, "x"]);
  expect(isError).toBe(true);
  expect(text).toContain("The nearest text is at line 1:\n\tif (x)  {");
  expect(text).toContain(difference);
  expect(bytes.toString()).toBe(INDENTED);
});

test("F071 line numbers copied along are recognised", async () => {
  const { text } = await editOf(INDENTED, ["1: \tif (x)  {\n2: \t\treturn  1;", "x"]);
  expect(text).toContain("oldText seems to carry line numbers: leave them out. The nearest text is at line 1:");
});

test("F083 a new text with half a character is refused", async () => {
  const { isError, bytes } = await editOf("a", ["a", "\ud83d"]);
  expect(isError).toBe(true);
  expect(bytes.toString()).toBe("a");
});

test("a missing file is named with its code and the nearest that exists", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "main.ts"), "");
  const outcome = await call(edit, { path: "mian.ts", edits: [{ oldText: "a", newText: "b" }] }, { cwd });
  expect(outcome.text).toBe("Could not edit file: mian.ts. Error code: ENOENT.\nThe nearest that exists: main.ts");
});

test("edits of one file in one batch are all made, each on what the one before left", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "file"), "a b c");
  await Promise.all(
    ["a", "b", "c"].map((letter) =>
      call(edit, { path: "file", edits: [{ oldText: letter, newText: letter.toUpperCase() }] }, { cwd }),
    ),
  );
  expect(readFileSync(join(cwd, "file"), "utf8")).toBe("A B C");
});

test("what models get wrong about the arguments is mended", () => {
  const one = { oldText: "a", newText: "b" };
  const mended = { path: "f", edits: [one] };
  expect(gatherEdits({ path: "f", edits: JSON.stringify([one]) })).toEqual(mended);
  expect(gatherEdits({ path: "f", edits: JSON.stringify(one) })).toEqual(mended);
  expect(gatherEdits({ path: "f", edits: one })).toEqual(mended);
  expect(gatherEdits({ path: "f", ...one })).toEqual(mended);
  expect(gatherEdits({ path: "f", edits: [one], oldText: "c", newText: "d" })).toEqual({
    path: "f",
    edits: [one, { oldText: "c", newText: "d" }],
  });
  expect(gatherEdits({ path: "f", edits: "not JSON" })).toEqual({ path: "f", edits: ["not JSON"] });
});

test("an oldText that fits in very many places is refused without counting them all, each line named once", async () => {
  const { text, isError } = await editOf("a".repeat(5_000), ["a".repeat(1_000), "b"]);
  expect(isError).toBe(true);
  expect(text).toContain("Found more than 200 occurrences of oldText (line 1, …); it must match exactly one place.");
});

test("the lines of an oldText that fits several times in one line are named once", async () => {
  expect((await editOf("x\naa a\na\n", ["a", "b"])).text).toContain("Found 4 occurrences of oldText (lines 2, 3);");
});

test("a file that changes between reading and writing is read and matched again, five times at most", async () => {
  const cwd = tempFolder();
  const path = join(cwd, "file");
  let reads = 0;
  const racing = (times: number) =>
    createEditTool(cwd, {
      operations: {
        read: () => Buffer.from(`a${++reads}`),
        replace: (target, bytes) => {
          if (reads <= times) assertUnchanged(target, "an earlier state");
          writeFileSync(target, bytes);
        },
      },
    });
  const args = { path: "file", edits: [{ oldText: "a", newText: "b" }] };
  expect(await call(racing(4), args, { cwd })).toMatchObject({ isError: false });
  expect(readFileSync(path, "utf8")).toBe("b5");
  reads = 0;
  const outcome = await call(racing(9), args, { cwd });
  expect(outcome).toMatchObject({ isError: true, text: expect.stringContaining("the file changed meanwhile") });
  expect([reads, readFileSync(path, "utf8")]).toEqual([5, "b5"]);
});
