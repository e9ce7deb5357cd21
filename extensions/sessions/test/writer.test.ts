import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Entry } from "@pi-agent/kernel";
import { describe, expect, onTestFinished, test } from "vitest";
import { FileStore } from "../src/file-store.ts";
import { parseSession } from "../src/format.ts";
import { findPlace } from "../src/location.ts";
import { readSession } from "../src/read.ts";
import { newSession, type Session } from "../src/select.ts";
import type { SessionWriter, WriterOptions } from "../src/writer.ts";
import { header, lines, message, type Notice, tempFolder } from "./support.ts";

function start(session: Session & { file: string }): {
  writer: SessionWriter;
  notices: Notice[];
  add: (...ids: string[]) => void;
} {
  const notices: Notice[] = [];
  const report = (text: string, level: string) => void notices.push({ text, level });
  const writer = openWriter(session, { durability: "flush", report });
  onTestFinished(() => writer.close());
  let last = session.entries.at(-1)?.id ?? null;
  const add = (...ids: string[]) => {
    for (const id of ids) {
      writer.append(message(id, last, `text of ${id}`) as Entry);
      last = id;
    }
    void writer.flush();
  };
  return { writer, notices, add };
}

function openWriter(session: Session & { file: string }, options: WriterOptions): SessionWriter {
  const placeOf = () => findPlace("/p", dirname(session.file));
  const store = new FileStore({ report: options.report, durability: () => options.durability, placeOf });
  store.remember(session.header.id, session);
  return store.open(session);
}

function fresh(path: string): Session & { file: string } {
  return { ...newSession({ cwd: "/p", file: path }), file: path };
}

function idsIn(path: string): string[] {
  return parseSession(readFileSync(path, "utf8"))!.entries.map(({ id }) => id);
}

test("a new file is made exclusively: what is there is not touched", () => {
  const path = join(tempFolder(), "s.jsonl");
  writeFileSync(path, "someone else's");
  const { add, notices } = start(fresh(path));
  add("a");
  expect(readFileSync(path, "utf8")).toBe("someone else's");
  expect(notices).toMatchObject([{ level: "error" }]);
});

test("an empty file gets a header", () => {
  const path = join(tempFolder(), "s.jsonl");
  writeFileSync(path, "");
  start({ ...fresh(path), sizeBytes: 0 }).add("a");
  expect(idsIn(path)).toEqual(["a"]);
});

test("S2 a torn last line is ended before the next entry", () => {
  const path = join(tempFolder(), "s.jsonl");
  const torn = `${lines(header(), message("a", null))}{"type":"mess`;
  writeFileSync(path, torn);
  start(readSession(path)!).add("b");
  expect(readFileSync(path, "utf8").startsWith(`${torn}\n{`)).toBe(true);
  expect(idsIn(path)).toEqual(["a", "b"]);
});

test("S3 what another program appended stays, with lines whole, and is told once", () => {
  const path = join(tempFolder(), "s.jsonl");
  const { add, notices } = start(fresh(path));
  add("a");
  appendFileSync(path, JSON.stringify(message("theirs", "a")));
  add("b");
  appendFileSync(path, lines(message("more", "theirs")));
  add("c");
  expect(idsIn(path)).toEqual(["a", "theirs", "b", "more", "c"]);
  expect(parseSession(readFileSync(path, "utf8"))!.problems).toEqual([]);
  expect(notices).toMatchObject([{ level: "warning", text: expect.stringContaining(path) }]);
});

test("S1 with durability fsync a flush waits for what an earlier one wrote", async () => {
  const path = join(tempFolder(), "s.jsonl");
  const writer = openWriter(fresh(path), { durability: "fsync", report: () => {} });
  writer.append(message("a", null) as Entry);
  const first = writer.flush();
  expect(first).toBeInstanceOf(Promise);
  expect(writer.flush()).toBe(first);
  await first;
  expect(writer.flush()).toBeUndefined();
  await writer.close();
  expect(idsIn(path)).toEqual(["a"]);
});

test.skipIf(process.platform !== "linux")("a flush is one write, whatever was appended", () => {
  const { writer, add } = start(fresh(join(tempFolder(), "s.jsonl")));
  add("first");
  // Of this thread: others of the process write when they like.
  const writes = () => Number(/syscw: (\d+)/.exec(readFileSync("/proc/thread-self/io", "utf8"))![1]);
  const before = writes();
  for (let n = 0; n < 500; n++) writer.append(message(String(n), "first") as Entry);
  void writer.flush();
  expect(writes() - before).toBe(1);
});

describe("S4 F113 a disk that is full, read-only or gone", () => {
  test("a folder that was removed while running is made again, with everything in it", () => {
    const folder = join(tempFolder(), "sessions", "deep");
    const path = join(folder, "s.jsonl");
    const { add, notices } = start(fresh(path));
    add("a", "b");
    rmSync(folder, { recursive: true });
    add("c");
    expect(idsIn(path)).toEqual(["a", "b", "c"]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(notices).toMatchObject([{ level: "warning" }]);
  });

  test("a folder that cannot be made is told once; entries are written in order when it can", async () => {
    const root = tempFolder();
    const path = join(root, "gone", "s.jsonl");
    writeFileSync(join(root, "gone"), "a file where the folder should be");
    const { writer, add, notices } = start(fresh(path));
    add("a");
    add("b");
    expect(notices).toMatchObject([{ level: "error", text: expect.stringContaining(path) }]);
    rmSync(join(root, "gone"));
    add("c");
    expect(idsIn(path)).toEqual(["a", "b", "c"]);
    expect(notices).toHaveLength(2);
    expect(notices[1]).toMatchObject({ level: "info", text: expect.stringContaining("3 entries") });
    await writer.close();
    expect(notices).toHaveLength(2);
  });

  test("a disk that is taken away and comes back gets what is missing", () => {
    const root = tempFolder();
    const path = join(root, "disk", "s.jsonl");
    const { add, notices } = start(fresh(path));
    add("a");
    // The file moves with its folder, so the writer goes on there; a new file in its place is never mixed up with it.
    renameSync(join(root, "disk"), join(root, "away"));
    add("b");
    renameSync(join(root, "away"), join(root, "disk"));
    add("c");
    expect(idsIn(path)).toEqual(["a", "b", "c"]);
    expect(notices).toEqual([]);
  });

  test("a file that was cut is written anew, and what was left is kept", () => {
    const path = join(tempFolder(), "s.jsonl");
    const { add, notices } = start(fresh(path));
    add("a", "b");
    truncateSync(path, 20);
    add("c");
    expect(idsIn(path)).toEqual(["a", "b", "c"]);
    expect(readFileSync(`${path}.bak`)).toHaveLength(20);
    expect(notices).toMatchObject([{ level: "warning", text: expect.stringContaining(`${path}.bak`) }]);
  });

  test("a file that was replaced is kept aside", () => {
    const path = join(tempFolder(), "s.jsonl");
    const { add } = start(fresh(path));
    add("a");
    writeFileSync(`${path}.new`, "another file");
    renameSync(`${path}.new`, path);
    add("b");
    expect(idsIn(path)).toEqual(["a", "b"]);
    expect(readFileSync(`${path}.bak`, "utf8")).toBe("another file");
  });

  test.each([
    ["by one of the same name, while a link keeps the first", (path: string) => renameSync(path, `${path}.old`)],
    ["in its place, and longer", () => {}],
  ])("a file that was replaced %s, is written anew, and kept aside", (_how, first) => {
    const path = join(tempFolder(), "s.jsonl");
    const { add, notices } = start(fresh(path));
    add("a");
    first(path);
    const other = lines(header(), message("x", null, "y".repeat(2_000)));
    writeFileSync(path, other);
    add("b");
    expect(idsIn(path)).toEqual(["a", "b"]);
    expect(readFileSync(`${path}.bak`, "utf8")).toBe(other);
    expect(notices).toMatchObject([{ level: "warning" }]);
  });

  test("in a stranger's folder no link is written through", () => {
    const folder = tempFolder();
    const path = join(folder, "s.jsonl");
    const victim = join(folder, "victim");
    writeFileSync(victim, "kept");
    symlinkSync(victim, `${path}.${process.pid}.tmp`);
    symlinkSync(join(folder, "nowhere"), `${path}.bak`);
    writeFileSync(path, lines(header({ version: 1 }), message("a", null)));
    start(readSession(path)!).add("b");
    expect(readFileSync(victim, "utf8")).toBe("kept");
    expect(existsSync(join(folder, "nowhere"))).toBe(false);
    expect(existsSync(`${path}.bak2`)).toBe(true);
  });

  test("what was never written is told at the end", async () => {
    const root = tempFolder();
    writeFileSync(join(root, "gone"), "");
    const { writer, add, notices } = start(fresh(join(root, "gone", "s.jsonl")));
    add("a", "b");
    await writer.close();
    expect(notices.at(-1)).toMatchObject({ level: "error", text: expect.stringContaining("2 entries") });
  });

  const canMount = process.platform === "linux" && process.getuid?.() === 0 && hasMount();
  test("a full disk: partial bytes are cut off again, and all is written when there is room", ({ skip }) => {
    if (!canMount) skip("needs mount");
    const disk = join(tempFolder(), "disk");
    mkdirSync(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", disk]);
    onTestFinished(() => void execFileSync("umount", [disk]));
    const path = join(disk, "s.jsonl");
    const filler = join(disk, "filler");
    const { writer, notices } = start(fresh(path));
    const say = (id: string, parent: string | null) => {
      writer.append(message(id, parent, "x".repeat(3_000)) as Entry);
      void writer.flush();
    };
    say("0", null);
    writeFileSync(filler, Buffer.alloc(40_000));
    for (let n = 1; n <= 10; n++) say(String(n), String(n - 1));
    expect(notices).toMatchObject([{ level: "error", text: expect.stringContaining("ENOSPC") }]);
    const onDisk = readFileSync(path, "utf8");
    expect(onDisk.endsWith("\n")).toBe(true);
    expect(parseSession(onDisk)!.problems).toEqual([]);
    rmSync(filler);
    say("11", "10");
    expect(idsIn(path)).toEqual(Array.from({ length: 12 }, (_, n) => String(n)));
    expect(notices).toMatchObject([{ level: "error" }, { level: "info" }]);
  });
});

/** Tells whether this machine lets a test mount a small disk. */
function hasMount(): boolean {
  const folder = tempMountPoint();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], { stdio: "ignore" });
    execFileSync("umount", [folder]);
    return true;
  } catch {
    return false;
  } finally {
    if (existsSync(folder)) rmSync(folder, { recursive: true });
  }
}

function tempMountPoint(): string {
  const folder = join(process.env.TMPDIR ?? "/tmp", `pi-sessions-mount-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  return folder;
}
