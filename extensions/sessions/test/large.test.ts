import { spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listSessions } from "../src/list.ts";
import { findPlace } from "../src/location.ts";
import { header, linesOf, message, tempFolder } from "./support.ts";

const isSoak = Boolean(process.env.SOAK);
// 600 MB in the soak: more than the longest string can hold.
const IMAGES = isSoak ? 600 : 40;
const MEMORY_MB = isSoak ? 1_000 : 128;
const ENTRIES = isSoak ? 500_000 : 30_000;
const IMAGE = "A".repeat(1_000_000);

/** Writes a file piece by piece. */
function write(count: number, entryAt: (n: number) => object): string {
  const path = join(tempFolder(), "large.jsonl");
  const fd = openSync(path, "w");
  writeSync(fd, linesOf([header({ cwd: "/p" })]));
  for (let n = 0; n < count; ) {
    const batch: object[] = [];
    for (; n < count && batch.length < (count > 1_000 ? 5_000 : 10); n++) batch.push(entryAt(n));
    writeSync(fd, linesOf(batch));
  }
  closeSync(fd);
  return path;
}

const idOf = (n: number) => n.toString(16).padStart(8, "0");

function image(n: number): object {
  const content = [{ type: "image", data: `${n}${IMAGE}`, mimeType: "image/png" }];
  return message(idOf(n), n === 0 ? null : idOf(n - 1), "", { message: { role: "user", content, timestamp: 1 } });
}

/** Runs a program that may use so much memory for objects; answers what it printed. */
function runWith(memoryMb: number, program: string): unknown {
  const options = [`--max-old-space-size=${memoryMb}`, "--conditions", "@pi-agent/source", "--input-type=module", "-e"];
  const { stdout, stderr, status } = spawnSync(process.execPath, [...options, program], { encoding: "utf8" });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  return JSON.parse(stdout);
}

const source = (name: string) => JSON.stringify(join(import.meta.dirname, "../src", name));

/** Opens a file, goes on with it by one entry, and tells what it cost. */
const goOn = (path: string) => `
  const { readSession } = await import(${source("read.ts")});
  const { FileStore } = await import(${source("file-store.ts")});
  const { findPlace } = await import(${source("location.ts")});
  const { listSessions } = await import(${source("list.ts")});
  const { readFileSync } = await import("node:fs");
  const written = () => Number(/wchar: (\\d+)/.exec(readFileSync("/proc/self/io", "utf8"))?.[1] ?? 0);
  const session = readSession(${JSON.stringify(path)});
  const notices = [];
  const place = findPlace("/p", ${JSON.stringify(join(path, ".."))});
  const store = new FileStore({ placeOf: () => place, durability: () => "flush", report: (text) => notices.push(text) });
  store.remember(session.header.id, session);
  const sink = store.open(session);
  const parentId = session.entries.at(-1).id;
  const before = written();
  sink.append({ type: "custom", id: "one-more", parentId, timestamp: "t", customType: "x" });
  sink.flush();
  const bytes = written() - before;
  await sink.close();
  const listed = listSessions(place).length;
  console.log(JSON.stringify({ count: session.entries.length, problems: session.problems, bytes, notices, listed }));`;

describe("F110 very large sessions", () => {
  test(`${IMAGES} images of 1 MB open, are listed and are gone on with in ${MEMORY_MB} MB`, () => {
    const path = write(IMAGES, image);
    const size = statSync(path).size;
    const told = runWith(MEMORY_MB, goOn(path)) as { bytes: number };
    expect(told).toMatchObject({ count: IMAGES, problems: [], notices: [], listed: 1 });
    // What an append costs has nothing to do with what is there.
    expect(told.bytes).toBeLessThan(1_000);
    expect(statSync(path).size - size).toBeLessThan(1_000);
  });

  test(`${ENTRIES} entries open, are listed and are gone on with`, () => {
    const path = write(ENTRIES, (n) => message(idOf(n), n === 0 ? null : idOf(n - 1)));
    const told = runWith(1_500, goOn(path)) as { bytes: number };
    expect(told).toMatchObject({ count: ENTRIES, problems: [], notices: [], listed: 1 });
    expect(told.bytes).toBeLessThan(1_000);
  });

  test.runIf(process.platform === "linux")("S5 listing reads the ends of a file, whatever is between", () => {
    const path = write(IMAGES, image);
    const place = findPlace("/p", join(path, ".."));
    const read = () => Number(/rchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))![1]);
    const before = read();
    expect(listSessions(place)).toHaveLength(1);
    expect(read() - before).toBeLessThan(200_000);
  });
});
