import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { createReadTool, type ReadOperations } from "../src/index.ts";
import { call, makePipe, tempFolder } from "./tool-call.ts";

const read = createReadTool();
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

function fileOf(content: string | Buffer, name = "file.txt"): string {
  const cwd = tempFolder();
  writeFileSync(join(cwd, name), content);
  return cwd;
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");

test("a small file comes as it is, without details", async () => {
  const cwd = fileOf("one\ntwo\nthree\n");
  expect(await call(read, { path: "file.txt" }, { cwd })).toMatchObject({
    text: "one\ntwo\nthree\n",
    isError: false,
    details: undefined,
  });
});

test.each([
  [
    "a file of 5,000 lines says how to go on",
    {},
    /^line 1\n/,
    /line 2000\n\n\[Showing lines 1-2000 of 5000\. Use offset=2001 to continue\.\]$/,
  ],
  ["an offset starts there", { offset: 4_999 }, /^line 4999\n/, /line 5000\n$/],
  [
    "a limit says how many lines are left",
    { offset: 10, limit: 2 },
    /^line 10\n/,
    /line 11\n\n\[4989 more lines in file\. Use offset=12 to continue\.\]$/,
  ],
  [
    "an offset below 1 is the start",
    { offset: -3, limit: 1 },
    /^line 1\n/,
    /\[4999 more lines in file\. Use offset=2 to continue\.\]$/,
  ],
])("%s", async (_name, window, start, end) => {
  const outcome = await call(read, { path: "file.txt", ...window }, { cwd: fileOf(numbered(5_000)) });
  expect(outcome.text).toMatch(start);
  expect(outcome.text).toMatch(end);
});

test("an offset beyond the end is an error that tells the number of lines", async () => {
  const outcome = await call(read, { path: "file.txt", offset: 9 }, { cwd: fileOf("a\nb\n") });
  expect(outcome).toMatchObject({ isError: true, text: "Offset 9 is beyond end of file (2 lines total)" });
});

test("more than 50 KB ends at a whole line, and says so", async () => {
  const outcome = await call(read, { path: "file.txt" }, { cwd: fileOf(`${"x".repeat(99)}\n`.repeat(1_000)) });
  expect(outcome.text).toMatch(/\[Showing lines 1-512 of 1000 \(50\.0KB limit\)\. Use offset=513 to continue\.\]$/);
  expect(outcome.details).toMatchObject({ truncation: { truncatedBy: "bytes", outputLines: 512, totalLines: 1_000 } });
});

test("a first line that is too long is named with its size and another way", async () => {
  const outcome = await call(read, { path: "file.txt" }, { cwd: fileOf(`${"x".repeat(60_000)}\nshort\n`) });
  expect(outcome.isError).toBe(false);
  expect(outcome.text).toContain(
    "Line 1 is 58.6KB, exceeds 50.0KB limit. Use bash: sed -n '1p' file.txt | head -c 51200",
  );
});

test("a file of 10 GB costs the time and memory of what is shown", async () => {
  const cwd = fileOf(numbered(50_000));
  truncateSync(join(cwd, "file.txt"), 10 * 1_024 ** 3);
  const before = process.memoryUsage().arrayBuffers;
  const outcome = await call(read, { path: "file.txt", limit: 3 }, { cwd });
  expect(outcome.text).toBe("line 1\nline 2\nline 3\n\n[More lines in file. Use offset=4 to continue.]");
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(256 * 1_024 ** 2);
});

test("an abort ends the reading of a large file", async () => {
  const cwd = fileOf(numbered(50_000));
  truncateSync(join(cwd, "file.txt"), 10 * 1_024 ** 3);
  const controller = new AbortController();
  const reading = call(read, { path: "file.txt", offset: 60_000 }, { cwd, signal: controller.signal });
  controller.abort();
  expect(await reading).toMatchObject({ isError: true, text: "Operation aborted" });
});

test.each([
  ["UTF-8 with a byte order mark", Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from("héllo\n")])],
  ["UTF-16 little endian", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("héllo\n", "utf16le")])],
  ["UTF-16 big endian", Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from("héllo\n", "utf16le").swap16()])],
  ["CRLF", Buffer.from("héllo\r\n")],
])("%s reads as plain text", async (_name, bytes) => {
  expect(await call(read, { path: "file.txt" }, { cwd: fileOf(bytes) })).toMatchObject({ text: "héllo\n" });
});

test("F062 bytes that are not UTF-8 are named, with their line", async () => {
  const outcome = await call(read, { path: "file.txt" }, { cwd: fileOf(Buffer.from("ok\ncaf\xe9 = 1\n", "latin1")) });
  expect(outcome.text).toMatch(
    /^ok\ncaf\ufffd = 1\n\n\[Encoding problem: line 2 holds bytes that are not UTF-8, the first 0xE9/,
  );
});

test("a binary file is named as such", async () => {
  const outcome = await call(read, { path: "file.txt" }, { cwd: fileOf(Buffer.from("\x7fELF\0\0\0", "latin1")) });
  expect(outcome.text).toMatch(/^\[Binary file: ELF program or library, 7B\./);
});

test("a binary part that comes later is not shown either", async () => {
  const cwd = fileOf(`${numbered(40_000)}\0\n`);
  expect((await call(read, { path: "file.txt", offset: 40_000 }, { cwd })).text).toMatch(/^\[Binary file:/);
});

test("an empty file says that it is empty", async () => {
  expect((await call(read, { path: "file.txt" }, { cwd: fileOf("") })).text).toBe("(empty file)");
});

test("an image is told by its content, and comes as an image", async () => {
  const outcome = await call(read, { path: "notes.txt" }, { cwd: fileOf(PNG, "notes.txt") });
  expect(outcome.text).toBe("Read image file [image/png]");
  expect(outcome.images).toEqual([{ type: "image", mimeType: "image/png", data: PNG.toString("base64") }]);
  const text = await call(read, { path: "image.gif" }, { cwd: fileOf("GIF files are old\n", "image.gif") });
  expect(text).toMatchObject({ text: "GIF files are old\n", images: [] });
});

test("an image for a model without eyes is marked in the details", async () => {
  const model = { id: "blind", input: ["text" as const] };
  const outcome = await call(read, { path: "file.txt" }, { cwd: fileOf(PNG), model });
  expect(outcome.details).toEqual({ imageUnsupportedByModel: "blind" });
});

test("an image that is too large is left out, with a hint", async () => {
  const cwd = fileOf(PNG);
  truncateSync(join(cwd, "file.txt"), 6 * 1_024 ** 2);
  const outcome = await call(read, { path: "file.txt" }, { cwd });
  expect(outcome.images).toEqual([]);
  expect(outcome.text).toMatch(/\[Image omitted: 6\.0MB is over the limit of 3\.4MB\. Make a smaller copy/);
});

test("a directory, a pipe, a socket and a device are refused and never waited for", async () => {
  const cwd = tempFolder();
  makePipe(join(cwd, "pipe"));
  const server = createServer().listen(join(cwd, "socket"));
  await new Promise((resolve) => server.once("listening", resolve));
  const refusals = await Promise.all([".", "pipe", "socket", "/dev/zero"].map((path) => call(read, { path }, { cwd })));
  server.close();
  expect(refusals.map(({ isError }) => isError)).toEqual([true, true, true, true]);
  expect(refusals[0]!.text).toContain("is a directory, not a file");
  expect(refusals[1]!.text).toContain("is a named pipe, not a file");
  expect(refusals[3]!.text).toContain("is a device, not a file");
});

test.runIf(process.platform === "linux")("a file of /proc, which has no size, is read", async () => {
  expect((await call(read, { path: "/proc/self/status" }, { cwd: "/" })).text).toMatch(/^Name:/);
});

test.each([
  ["@ before a path", () => "@file.txt"],
  ["a file address", (cwd: string) => pathToFileURL(join(cwd, "file.txt")).href],
  ["an absolute path", (cwd: string) => join(cwd, "file.txt")],
])("%s is understood", async (_name, pathIn) => {
  const cwd = fileOf("here\n");
  expect((await call(read, { path: pathIn(cwd) }, { cwd })).text).toBe("here\n");
});

test("~ is the home directory, at the start only", async () => {
  const cwd = fileOf("a file called tilde\n", "~");
  expect((await call(read, { path: "~" }, { cwd })).text).toBe(
    `~ is a directory, not a file.\nList it with ls, or with ls in bash.`,
  );
  expect((await call(read, { path: "./~" }, { cwd })).text).toBe("a file called tilde\n");
  expect(homedir()).not.toBe(cwd);
});

test("F068 files with odd names are read by their literal name", async () => {
  const cwd = tempFolder();
  const names = ["-rf", "--help", "a b", "a\nb", "[x].ts", "{y}", "é", "*", "$HOME", "@scope"];
  for (const name of names) writeFileSync(join(cwd, name), `I am ${name}`);
  for (const name of names) expect((await call(read, { path: name }, { cwd })).text).toBe(`I am ${name}`);
});

test.each([
  ["a decomposed name", "cafe\u0301.txt", "café.txt"],
  ["a narrow space before PM", "Shot 3.00\u202fPM.png", "Shot 3.00 PM.png"],
  ["a curly apostrophe", "it\u2019s.txt", "it's.txt"],
])("%s is found by its everyday spelling", async (_name, stored, asked) => {
  const cwd = tempFolder();
  mkdirSync(join(cwd, "dir"));
  writeFileSync(join(cwd, "dir", stored), "found");
  expect((await call(read, { path: `dir/${asked}` }, { cwd })).text).toBe("found");
});

test("the error for a missing file names the nearest that exists", async () => {
  const cwd = tempFolder();
  mkdirSync(join(cwd, "src"));
  writeFileSync(join(cwd, "src/read.ts"), "");
  const outcome = await call(read, { path: "src/raed.ts" }, { cwd });
  expect(outcome).toMatchObject({
    isError: true,
    text: "Path not found: src/raed.ts\nThe nearest that exists: src/read.ts",
  });
  expect((await call(read, { path: "scr/read.ts" }, { cwd })).text).toContain("The nearest that exists: src/read.ts");
});

test("the error for a broken link tells where it leads", async () => {
  const cwd = tempFolder();
  symlinkSync("gone.txt", join(cwd, "link"));
  const { text } = await call(read, { path: "link" }, { cwd });
  expect(text).toBe(`Path not found: link\nIt is a symbolic link to ${join(cwd, "gone.txt")}, which does not exist.`);
});

test("E9 touches tells the real path, also through links and for what does not exist", () => {
  const cwd = tempFolder();
  mkdirSync(join(cwd, "real"));
  symlinkSync("real", join(cwd, "link"));
  const ctx = { cwd } as never;
  expect(read.touches!({ path: "link/new.txt" }, ctx)).toEqual({ read: [join(cwd, "real/new.txt")] });
  expect(() => read.touches!({ path: "file://elsewhere/x" }, ctx)).not.toThrow();
});

test("F083 nothing that read answers holds half a character", async () => {
  const halves = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from([0x3d, 0xd8, 0x41, 0x00])]);
  expect((await call(read, { path: "file.txt" }, { cwd: fileOf(halves) })).text.isWellFormed()).toBe(true);
});

test("with operations of one's own, files come from there and paths are only made absolute", async () => {
  const asked: string[] = [];
  const operations: ReadOperations = {
    open(path) {
      asked.push(path);
      const bytes = Buffer.from("far away\n");
      const file = { kind: "file", sizeBytes: bytes.length, close() {} };
      return { ...file, read: async (at, length) => bytes.subarray(at, at + length) };
    },
  };
  const remote = createReadTool("/remote", { operations });
  expect((await call(remote, { path: "notes.md" }, { cwd: tempFolder() })).text).toBe("far away\n");
  expect(asked).toEqual(["/remote/notes.md"]);
});

test("its limits can be set", async () => {
  const outcome = await call(
    createReadTool(undefined, { maxLines: 2 }),
    { path: "file.txt" },
    { cwd: fileOf("a\nb\nc\n") },
  );
  expect(outcome.text).toBe("a\nb\n\n[Showing lines 1-2 of 3. Use offset=3 to continue.]");
});
