import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createWriteTool } from "../src/index.ts";
import { call, makePipe, tempFolder, withoutRoot } from "./tool-call.ts";

const write = createWriteTool();
const modeOf = (path: string) => statSync(path).mode & 0o7777;

test("a new file is written with its parents, exactly as given", async () => {
  const cwd = tempFolder();
  const content = "$& \r\n\ttext \u{1f600}\n";
  expect(await call(write, { path: "a/b/c.txt", content }, { cwd })).toMatchObject({
    text: "Successfully wrote to a/b/c.txt",
    isError: false,
    details: undefined,
  });
  expect(readFileSync(join(cwd, "a/b/c.txt"), "utf8")).toBe(content);
  expect(readdirSync(join(cwd, "a/b"))).toEqual(["c.txt"]);
});

test("F064 a file keeps its mode: executable, private, special bits", async () => {
  const cwd = tempFolder();
  for (const mode of [0o755, 0o600, 0o2750]) {
    const path = join(cwd, mode.toString(8));
    writeFileSync(path, "old");
    chmodSync(path, mode);
    await call(write, { path, content: "new" }, { cwd });
    expect(modeOf(path)).toBe(mode);
    expect(readFileSync(path, "utf8")).toBe("new");
  }
});

test.runIf(process.getuid?.() === 0)("F064 a file keeps its owner", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "file"), "old");
  chownSync(join(cwd, "file"), 65_534, 65_534);
  await call(write, { path: "file", content: "new" }, { cwd });
  expect(statSync(join(cwd, "file"))).toMatchObject({ uid: 65_534, gid: 65_534 });
});

test("F064 a read-only file is an error that says what to do, for root too", async () => {
  const cwd = tempFolder();
  const path = join(cwd, "fixed.txt");
  writeFileSync(path, "old", { mode: 0o444 });
  const outcome = await call(write, { path: "fixed.txt", content: "new" }, { cwd });
  expect(outcome.isError).toBe(true);
  expect(outcome.text).toMatch(/read-only \(EACCES\)\.\n.*chmod u\+w/);
  expect(readFileSync(path, "utf8")).toBe("old");
});

test("F064 a hard link stays a link to the same file", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "one"), "a longer old content");
  linkSync(join(cwd, "one"), join(cwd, "two"));
  await call(write, { path: "one", content: "new" }, { cwd });
  expect(readFileSync(join(cwd, "two"), "utf8")).toBe("new");
  expect(statSync(join(cwd, "one")).nlink).toBe(2);
});

test("F064 in a directory that takes no new file the old one is written in place", async () => {
  const cwd = tempFolder();
  const folder = join(cwd, "shut");
  mkdirSync(folder);
  writeFileSync(join(folder, "file"), "a longer old content", { mode: 0o666 });
  chmodSync(join(folder, "file"), 0o666);
  chmodSync(folder, 0o555);
  const outcome = await withoutRoot(cwd, () => call(write, { path: "shut/file", content: "new" }, { cwd }));
  expect(outcome.text).toBe("Successfully wrote to shut/file");
  expect(readFileSync(join(folder, "file"), "utf8")).toBe("new");
  chmodSync(folder, 0o755);
});

test("F064 a directory that cannot be written gives an error and loses nothing", async () => {
  const cwd = tempFolder();
  mkdirSync(join(cwd, "shut"), { mode: 0o555 });
  const outcome = await withoutRoot(cwd, () => call(write, { path: "shut/new", content: "new" }, { cwd }));
  expect(outcome).toMatchObject({ isError: true, text: "Could not write shut/new: permission denied (EACCES)." });
  expect(readdirSync(join(cwd, "shut"))).toEqual([]);
});

test("F065 a link stays a link, and the file at its end changes", async () => {
  const cwd = tempFolder();
  mkdirSync(join(cwd, "shared"));
  writeFileSync(join(cwd, "shared/conf.yml"), "old");
  symlinkSync("shared/conf.yml", join(cwd, "first"));
  symlinkSync("first", join(cwd, "conf.yml"));
  await call(write, { path: "conf.yml", content: "new" }, { cwd });
  expect(readlinkSync(join(cwd, "conf.yml"))).toBe("first");
  expect(readFileSync(join(cwd, "shared/conf.yml"), "utf8")).toBe("new");
});

test("F065 the target of a dangling link is created where the link leads", async () => {
  const cwd = tempFolder();
  symlinkSync("later/file", join(cwd, "link"));
  expect(write.touches!({ path: "link", content: "" }, { cwd } as never)).toEqual({ write: [join(cwd, "later/file")] });
  await call(write, { path: "link", content: "new" }, { cwd });
  expect(lstatSync(join(cwd, "link")).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(cwd, "later/file"), "utf8")).toBe("new");
});

test("F065 a link to a file outside shows gates the real path", () => {
  const cwd = tempFolder();
  const outside = tempFolder();
  symlinkSync(join(outside, "file"), join(cwd, "link"));
  expect(write.touches!({ path: "link", content: "" }, { cwd } as never)).toEqual({ write: [join(outside, "file")] });
});

test("F065 loops, directories, pipes and devices behind links are refused at once", async () => {
  const cwd = tempFolder();
  symlinkSync("b", join(cwd, "a"));
  symlinkSync("a", join(cwd, "b"));
  symlinkSync(".", join(cwd, "dir"));
  symlinkSync("/dev/null", join(cwd, "null"));
  makePipe(join(cwd, "pipe"));
  const texts: string[] = [];
  for (const path of ["a", "dir", "null", "pipe"]) {
    const outcome = await call(write, { path, content: "x\n" }, { cwd });
    expect(outcome.isError).toBe(true);
    texts.push(outcome.text);
  }
  expect(texts[0]).toContain("ELOOP");
  expect(texts[1]).toContain("is a directory");
  expect(texts[2]).toContain("is a device");
  expect(texts[3]).toContain("is a named pipe");
  expect(lstatSync(join(cwd, "null")).isSymbolicLink()).toBe(true);
});

test("F061 writing LF over CRLF is done as given, and said", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "dos.txt"), "a\r\nb\r\n");
  const outcome = await call(write, { path: "dos.txt", content: "a\nb\n" }, { cwd });
  expect(outcome.text).toBe("Successfully wrote to dos.txt\nIts lines ended with CRLF; now they end with LF.");
  await call(write, { path: "dos.txt", content: "a\r\nb\r\n" }, { cwd });
  expect(readFileSync(join(cwd, "dos.txt"), "utf8")).toBe("a\r\nb\r\n");
});

test("F083 half a character is refused before anything is written", async () => {
  const cwd = tempFolder();
  const outcome = await call(write, { path: "x", content: "ok \ud83d" }, { cwd });
  expect(outcome).toMatchObject({ isError: true });
  expect(outcome.text).toContain("lone surrogate) at index 3");
  expect(existsSync(join(cwd, "x"))).toBe(false);
});

test("a file where a parent should be is an error in plain words", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "file"), "");
  const outcome = await call(write, { path: "file/below", content: "x" }, { cwd });
  expect(outcome).toMatchObject({ isError: true });
  expect(outcome.text).toContain("a part of the path is a file");
});

test("two writers of one file queue up, also through a link", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "file"), "");
  symlinkSync("file", join(cwd, "link"));
  const order: string[] = [];
  const slow = createWriteTool(cwd, {
    operations: {
      async replace(_path, bytes) {
        order.push(`start ${bytes.toString()}`);
        await new Promise((resolve) => setImmediate(resolve));
        order.push(`end ${bytes.toString()}`);
      },
    },
  });
  await Promise.all([
    call(slow, { path: "file", content: "1" }, { cwd }),
    call(slow, { path: "link", content: "2" }, { cwd }),
  ]);
  expect(order).toEqual(["start 1", "end 1", "start 2", "end 2"]);
});

test("after an abort nothing is written", async () => {
  const cwd = tempFolder();
  const outcome = await call(write, { path: "x", content: "x" }, { cwd, signal: AbortSignal.abort() });
  expect(outcome).toMatchObject({ isError: true, text: "Operation aborted" });
  expect(existsSync(join(cwd, "x"))).toBe(false);
});

test("a path spelled another way than the existing file writes that file", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "cafe\u0301.txt"), "old");
  await call(write, { path: "café.txt", content: "new" }, { cwd });
  expect(readdirSync(cwd)).toEqual(["cafe\u0301.txt"]);
});

test("@ is taken off, unless a folder is really called so", async () => {
  const cwd = tempFolder();
  mkdirSync(join(cwd, "@types"));
  await call(write, { path: "@types/new.d.ts", content: "a" }, { cwd });
  await call(write, { path: "@notes.md", content: "b" }, { cwd });
  expect(existsSync(join(cwd, "@types/new.d.ts"))).toBe(true);
  expect(existsSync(join(cwd, "notes.md"))).toBe(true);
});

test.each(["new/", "a/b//", "new/."])(
  "a path that names a folder is an error, and nothing is made: %s",
  async (path) => {
    const cwd = tempFolder();
    const outcome = await call(write, { path, content: "x" }, { cwd });
    expect(outcome).toMatchObject({ isError: true, text: expect.stringContaining("names a folder, not a file") });
    expect(readdirSync(cwd)).toEqual([]);
  },
);

/** Asked when a write is about to happen; at the time `at`, a folder is moved away and a link takes its place. */
function swapping(folder: string, trap: string, at: number) {
  let asked = 0;
  const refusalOf = () => {
    asked++;
    if (asked === at) {
      renameSync(folder, `${folder}.old`);
      symlinkSync(trap, folder);
    }
    return undefined;
  };
  return createWriteTool(undefined, { refusalOf });
}

test("attack 43: a folder that is exchanged for a link while a file is written gets nothing to where the link leads", async () => {
  const cwd = tempFolder();
  const trap = tempFolder();
  mkdirSync(join(cwd, "a"));
  writeFileSync(join(cwd, "a/x"), "old");
  await call(swapping(join(cwd, "a"), trap, 1), { path: "a/x", content: "new" }, { cwd });
  expect(readdirSync(trap)).toEqual([]);
  expect(readFileSync(join(cwd, "a.old/x"), "utf8")).toBe("new");
  mkdirSync(join(cwd, "b"));
  const early = await call(swapping(join(cwd, "b"), trap, 1), { path: "b/x", content: "new" }, { cwd });
  expect(early).toMatchObject({ isError: true, text: expect.stringContaining("was moved or replaced meanwhile") });
  mkdirSync(join(cwd, "c"));
  await call(swapping(join(cwd, "c"), trap, 2), { path: "c/x", content: "new" }, { cwd });
  expect(readFileSync(join(cwd, "c.old/x"), "utf8")).toBe("new");
  expect(readdirSync(trap)).toEqual([]);
});

test("E9: what must not be written to is asked with the real path, and nothing is left of the attempt", async () => {
  const cwd = tempFolder();
  const asked: string[] = [];
  const refusalOf = (id: string, path: string) => `${id} ${asked.push(path)} no`;
  symlinkSync("real", join(cwd, "link"));
  mkdirSync(join(cwd, "real"));
  writeFileSync(join(cwd, "real/old"), "old");
  linkSync(join(cwd, "real/old"), join(cwd, "real/twin"));
  for (const path of ["link/new/deep/x", "link/old"]) {
    const outcome = await call(createWriteTool(undefined, { refusalOf }), { path, content: "x" }, { cwd });
    expect(outcome).toMatchObject({ isError: true, text: expect.stringMatching(/^call_1 \d no$/) });
  }
  expect(asked).toEqual([join(cwd, "real/new/deep/x"), join(cwd, "real/old")]);
  expect(readdirSync(join(cwd, "real"))).toEqual(["old", "twin"]);
  expect(readFileSync(join(cwd, "real/old"), "utf8")).toBe("old");
});
