/**
 * Listing 2,000 sessions, as `/resume` does, next to a program that looks at the head of each file and no more: both in
 * one process, turn about, with the files in the system's cache. And what a person waits, next to a fifth of a second.
 */
import { closeSync, mkdtempSync, openSync, readdirSync, readSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listSessions } from "../../extensions/sessions/src/list.ts";
import { findPlace } from "../../extensions/sessions/src/location.ts";
import { interleave, median, medianRatio } from "./processes.ts";
import type { Ratio } from "./run.ts";
import { writeSession } from "./session-files.ts";

const SESSIONS = 2_000;
const ENTRIES = 120;
const HEAD_BYTES = 64 * 1024;
const WAIT_MS = 200;
const CWD = "/project";

export async function run(): Promise<Ratio[]> {
  const folder = mkdtempSync(join(tmpdir(), "pi-bench-"));
  try {
    for (let n = 0; n < SESSIONS; n++)
      writeSession(join(folder, `s-${n}.jsonl`), { id: `s-${n}`, cwd: CWD, entries: ENTRIES });
    const place = findPlace(CWD, folder);
    const { ours, bare } = await interleave(
      { ours: async () => time(() => listSessions(place, CWD)), bare: async () => time(() => peekAll(folder)) },
      { runs: 9, warmUps: 2 },
    );
    return [
      { what: `list-${SESSIONS}-sessions-ours/heads-only`, ratio: medianRatio(ours, bare, "ms"), limit: 4 },
      { what: `list-${SESSIONS}-sessions-ms/${WAIT_MS}`, ratio: median(ours.map(({ ms }) => ms)) / WAIT_MS, limit: 1 },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function time(list: () => readonly unknown[]): { ms: number } {
  const startedAt = performance.now();
  const { length } = list();
  const ms = performance.now() - startedAt;
  if (length !== SESSIONS) throw new Error(`${length} sessions were listed.`);
  return { ms };
}

const buffer = Buffer.alloc(HEAD_BYTES);

function peekAll(folder: string): unknown[] {
  return readdirSync(folder).map((name) => {
    const path = join(folder, name);
    const fd = openSync(path, "r");
    const head = buffer.toString("utf8", 0, readSync(fd, buffer, 0, HEAD_BYTES, 0));
    closeSync(fd);
    return { modifiedMs: statSync(path).mtimeMs, header: JSON.parse(head.slice(0, head.indexOf("\n"))) as unknown };
  });
}
