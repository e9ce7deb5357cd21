/**
 * Session files in one process: opening one next to reading it and parsing each line, and appending an entry next to
 * writing its line to an open file; and what an append takes, next to a tenth of a millisecond.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Entry } from "@pi-agent/kernel";
import { FileStore } from "../../extensions/sessions/src/file-store.ts";
import { findPlace } from "../../extensions/sessions/src/location.ts";
import { readSession } from "../../extensions/sessions/src/read.ts";
import { interleave, median, medianRatio } from "./processes.ts";
import type { Ratio } from "./run.ts";
import { writeSession } from "./session-files.ts";

const ENTRIES = 20_000;
const APPENDS = 2_000;
const APPEND_US = 100;
const CWD = "/project";

export async function run(): Promise<Ratio[]> {
  const folder = mkdtempSync(join(tmpdir(), "pi-bench-"));
  try {
    const path = join(folder, "long.jsonl");
    writeSession(path, { id: "long", cwd: CWD, entries: ENTRIES });
    const opening = await interleave(
      {
        ours: async () => time(() => readSession(path)!.entries.length),
        bare: async () => time(() => parseLines(path)),
      },
      { runs: 9, warmUps: 2 },
    );
    let n = 0;
    const appending = await interleave(
      { ours: async () => append(folder, n++), bare: async () => write(folder, n++) },
      { runs: 9, warmUps: 2 },
    );
    const usPerAppend = median(appending.ours.map(({ us }) => us));
    return [
      { what: "open-ours/read-and-parse-each-line", ratio: medianRatio(opening.ours, opening.bare, "ms"), limit: 2 },
      { what: "append-ours/bare-write", ratio: medianRatio(appending.ours, appending.bare, "us"), limit: 4 },
      { what: `append-us/${APPEND_US}`, ratio: usPerAppend / APPEND_US, limit: 1 },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function time(open: () => number): { ms: number } {
  globalThis.gc?.();
  const startedAt = performance.now();
  const count = open();
  const ms = performance.now() - startedAt;
  if (count !== ENTRIES) throw new Error(`${count} entries were read.`);
  return { ms };
}

function parseLines(path: string): number {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as object).length - 1;
}

/** The median of what an append with its flush takes. */
async function append(folder: string, n: number): Promise<{ us: number }> {
  const report = (message: string) => {
    throw new Error(message);
  };
  const store = new FileStore({ placeOf: () => findPlace(CWD, folder), durability: () => "flush", report });
  const header = {
    type: "session" as const,
    version: 3,
    id: `append-${n}`,
    timestamp: "2026-01-05T09:00:00.000Z",
    cwd: CWD,
  };
  const sink = store.open({ header, entries: [] });
  const us: number[] = [];
  for (let at = 0; at < APPENDS; at++) {
    const entry = entryAt(at);
    const startedAt = performance.now();
    sink.append(entry);
    const waiting = sink.flush();
    us.push((performance.now() - startedAt) * 1_000);
    await waiting;
  }
  await sink.close();
  return { us: median(us) };
}

async function write(folder: string, n: number): Promise<{ us: number }> {
  const fd = openSync(join(folder, `bare-${n}.txt`), "a");
  const us: number[] = [];
  for (let at = 0; at < APPENDS; at++) {
    const entry = entryAt(at);
    const startedAt = performance.now();
    writeSync(fd, `${JSON.stringify(entry)}\n`);
    us.push((performance.now() - startedAt) * 1_000);
  }
  closeSync(fd);
  return { us: median(us) };
}

function entryAt(at: number): Entry {
  const content = [{ type: "text" as const, text: "What a person says. ".repeat(30) }];
  const place = { id: String(at), parentId: at === 0 ? null : String(at - 1), timestamp: "2026-01-05T09:00:00.000Z" };
  return { type: "message", ...place, message: { role: "user", content, timestamp: 1 } };
}
