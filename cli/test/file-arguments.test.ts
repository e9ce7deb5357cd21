import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readFileArguments } from "../src/file-arguments.ts";

const folder = mkdtempSync(join(tmpdir(), "pi-files-"));
afterAll(() => rmSync(folder, { recursive: true }));
const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

test("text comes as a file tag with its absolute path, in the order typed", async () => {
  writeFileSync(join(folder, "a.txt"), "one\n");
  writeFileSync(join(folder, "b.txt"), "two");
  const { text, images } = await readFileArguments(["b.txt", join(folder, "a.txt")], folder);
  expect(text).toBe(
    `<file name="${join(folder, "b.txt")}">\ntwo\n</file>\n<file name="${join(folder, "a.txt")}">\none\n\n</file>\n`,
  );
  expect(images).toEqual([]);
});

test("an image comes as a block, told by its bytes and not by its name", async () => {
  writeFileSync(join(folder, "picture.txt"), PNG);
  const { text, images } = await readFileArguments(["picture.txt"], folder);
  expect(images).toEqual([{ type: "image", data: PNG.toString("base64"), mimeType: "image/png" }]);
  expect(text).toBe(`<file name="${join(folder, "picture.txt")}"></file>\n`);
});

test("an empty file is left out", async () => {
  writeFileSync(join(folder, "empty"), "");
  expect(await readFileArguments(["empty"], folder)).toEqual({ text: "", images: [] });
});

test("a missing file, a folder and binary data are refused with their name and the reason", async () => {
  mkdirSync(join(folder, "sub"));
  writeFileSync(join(folder, "binary"), Buffer.from([1, 0, 2]));
  const problems = await Promise.all(
    ["gone", "sub", "binary"].map(async (name) => (await readFileArguments([name], folder)).problem),
  );
  expect(problems.map((problem) => `${problem?.what}: ${problem?.why}`)).toEqual([
    "@gone cannot be read: there is no such file",
    "@sub cannot be read: it is a folder",
    "@binary cannot be sent: it is neither text nor a PNG, JPEG, GIF or WebP image",
  ]);
});

test.skipIf(process.platform === "win32")("a pipe and a device are refused before they are opened", async () => {
  execFileSync("mkfifo", [join(folder, "fifo")]);
  for (const name of ["fifo", "/dev/zero"]) {
    const { problem } = await readFileArguments([name], folder);
    expect(problem).toMatchObject({ what: `@${name} cannot be read`, why: "it is not a regular file" });
    expect(problem?.hint).toBeDefined();
  }
});

test("text above 10 MB is refused; an image is not", async () => {
  writeFileSync(join(folder, "large.txt"), "x");
  writeFileSync(join(folder, "large.png"), PNG);
  for (const name of ["large.txt", "large.png"]) truncateSync(join(folder, name), 10_000_001);
  expect((await readFileArguments(["large.txt"], folder)).problem).toMatchObject({ why: "it is larger than 10 MB" });
  expect((await readFileArguments(["large.png"], folder)).images).toHaveLength(1);
});
