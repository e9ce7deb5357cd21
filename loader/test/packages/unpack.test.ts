import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { digestFile, digestFiles, walkFiles } from "../../src/packages/files-digest.ts";
import { unpack } from "../../src/packages/unpack.ts";
import { temporaryFolder } from "./folders.ts";
import { type Entry, packEntries, packFiles } from "./tarballs.ts";

const run = promisify(execFile);
const GOOD: Entry = { path: "package/package.json", content: "{}" };

const HOSTILE: [what: string, entries: Entry[]][] = [
  ["an absolute path", [{ path: "/tmp/pi-evil", content: "x" }]],
  ["a path of another drive", [{ path: "C:/evil", content: "x" }]],
  ["a climbing path", [{ path: "package/../../pi-evil", content: "x" }]],
  ["a climbing path in the middle", [{ path: "package/a/../../../pi-evil", content: "x" }]],
  ["a climbing folder", [{ path: "package/../x/", type: "5" }]],
  ["a backslash", [{ path: "package\\..\\..\\evil", content: "x" }]],
  ["a link out", [{ path: "package/l", type: "2", target: "../../etc/passwd" }]],
  ["an absolute link", [{ path: "package/l", type: "2", target: "/etc/passwd" }]],
  [
    "a link out, then a file through it",
    [
      { path: "package/l", type: "2", target: "../.." },
      { path: "package/l/x", content: "x" },
    ],
  ],
  ["a hard link out", [{ path: "package/l", type: "1", target: "../../etc/passwd" }]],
  ["a character device", [{ path: "package/tty", type: "3" }]],
  ["a block device", [{ path: "package/disk", type: "4" }]],
  ["a pipe", [{ path: "package/pipe", type: "6" }]],
  [
    "names that differ in case",
    [
      { path: "package/Index.ts", content: "a" },
      { path: "package/index.ts", content: "b" },
    ],
  ],
  ["folders that differ in case", [{ path: "package/Lib/a.ts" }, { path: "package/lib/b.ts" }]],
  ["names that differ in composition", [{ path: "package/\u00e9.ts" }, { path: "package/e\u0301.ts" }]],
  ["a file that is a folder too", [{ path: "package/a" }, { path: "package/a/b" }]],
  ["a newline", [{ path: "package/a\nb", content: "x" }]],
  ["an escape sequence", [{ path: "package/\u001b[31m", content: "x" }]],
  ["no end of folders", [{ path: `package/${"a/".repeat(70)}b`, content: "x" }]],
];

test.each(HOSTILE)("P8: a tarball with %s is refused, and nothing is written", async (_, entries) => {
  const root = await temporaryFolder();
  const folder = join(root, "in", "package");
  const refused = unpack("evil", packEntries([GOOD, ...entries]), folder);
  await expect(refused).rejects.toMatchObject({ code: "package_unsafe", hint: expect.any(String) });
  expect(await readdir(root)).toEqual([]);
  expect(existsSync("/tmp/pi-evil")).toBe(false);
});

test("P8: a gigabyte of zeros is refused before it fills memory or disk", async () => {
  const root = await temporaryFolder();
  const { createGzip } = await import("node:zlib");
  const gzip = createGzip({ level: 1 });
  const chunks: Buffer[] = [];
  gzip.on("data", (chunk: Buffer) => chunks.push(chunk));
  const zeros = Buffer.alloc(16 << 20);
  for (let at = 0; at < 64; at++) if (!gzip.write(zeros)) await new Promise((done) => gzip.once("drain", done));
  await new Promise<void>((done) => gzip.end(done));
  await expect(unpack("zeros", Buffer.concat(chunks), join(root, "p"))).rejects.toThrow(/more than 256 MB/);
  expect(await readdir(root)).toEqual([]);
});

test("P8: a tarball with no end of entries is refused", async () => {
  const root = await temporaryFolder();
  const entries = Array.from({ length: 50_001 }, (_, index) => ({ path: `package/${index}` }));
  await expect(unpack("many", packEntries(entries), join(root, "p"))).rejects.toThrow(/50000 entries/);
});

test.each([
  ["cut off", (bytes: Buffer) => bytes.subarray(0, bytes.length - 20)],
  ["no archive", () => gzipSync(Buffer.alloc(2048, 7))],
  ["empty", () => Buffer.alloc(0)],
  ["plain text", () => Buffer.from("<html>sign in</html>")],
])("P4: a tarball that is %s is refused as damaged", async (_what, damage) => {
  const root = await temporaryFolder();
  const bytes = damage(
    packFiles({ "package.json": "{}", "a.bin": Buffer.from(Array.from({ length: 4000 }, (_, i) => (i * 7919) % 251)) }),
  );
  await expect(unpack("cut", bytes, join(root, "p"))).rejects.toMatchObject({ code: "package_integrity" });
  expect(await readdir(root)).toEqual([]);
});

test("files, long names, executable bits and links within are what npm makes of them", async () => {
  const root = await temporaryFolder();
  const long = `${"long/".repeat(30)}name.txt`;
  const entries: Entry[] = [
    GOOD,
    { path: `package/${long}`, content: "far" },
    { path: "package/bin/run", content: "#!/bin/sh", mode: 0o755 },
    { path: "package/AGENTS.md", content: "x" },
    { path: "package/CLAUDE.md", type: "2", target: "AGENTS.md" },
    { path: "package/sub/", type: "5" },
  ];
  const files = await unpack("good", packEntries(entries), root);
  expect(await readFile(join(root, long), "utf8")).toBe("far");
  expect((await stat(join(root, "bin/run"))).mode & 0o111).not.toBe(0);
  expect(existsSync(join(root, "CLAUDE.md"))).toBe(false);
  expect(files.map(({ path }) => path)).toEqual(["package.json", long, "bin/run", "AGENTS.md"]);
});

test("P3: the digest of what was unpacked is that of what is on disk, and counts bytes, names and executable bits", async () => {
  const root = await temporaryFolder();
  const digest = digestFiles(
    await unpack("good", packFiles({ "package.json": "{}", "b.ts": "b", "a/c.ts": "c" }), root),
  );
  const again = async () => {
    const { files } = await walkFiles(root);
    return digestFiles(await Promise.all(files.map((path) => digestFile(root, path))));
  };
  expect(await again()).toBe(digest);
  await writeFile(join(root, "b.ts"), "B");
  expect(await again()).not.toBe(digest);
});

test.each(["--format=ustar", "--format=gnu", "--format=pax"])("a real archive of tar %s is read", async (format) => {
  const root = await temporaryFolder();
  const long = `${"deep-folder-name/".repeat(12)}file.txt`;
  await mkdir(join(root, "package", long, ".."), { recursive: true });
  await writeFile(join(root, "package", long), "far");
  await writeFile(join(root, "package", "\u00fcml\u00e4ut.txt"), "near");
  await run("tar", ["-czf", "x.tgz", format, "package"], { cwd: root });
  const files = await unpack("real", await readFile(join(root, "x.tgz")), join(root, "out"));
  expect(files.map(({ path }) => path).sort()).toEqual([long, "\u00fcml\u00e4ut.txt"].sort());
});

test("P8: whatever the bytes of an archive are, it is refused with a reason or unpacked inside its folder", async () => {
  const root = await temporaryFolder();
  const archive = packEntries([GOOD, { path: "package/a.ts", content: "a".repeat(700) }]);
  const { gunzipSync } = await import("node:zlib");
  const plain = gunzipSync(archive);
  let round = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(1600), fc.nat(255)), { minLength: 1, maxLength: 6 }), async (changes) => {
      const bytes = Buffer.from(plain);
      for (const [at, value] of changes) bytes[at] = value;
      const outcome = await unpack("odd", bytes, join(root, String(round++))).catch((thrown: unknown) => thrown);
      if (!Array.isArray(outcome)) expect(outcome).toMatchObject({ code: expect.stringMatching(/^package_/) });
    }),
    { numRuns: 100 },
  );
  expect((await readdir(root)).every((name) => /^\d+$/.test(name))).toBe(true);
});
