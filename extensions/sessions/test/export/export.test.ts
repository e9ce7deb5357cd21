import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAgent, type Entry } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { assertSameStores, copySession } from "../../src/conformance/play.ts";
import { chain, entryOf, SAMPLES, said, sampleHeader } from "../../src/conformance/samples.ts";
import { exportSession } from "../../src/export/export-session.ts";
import { htmlPage } from "../../src/export/html.ts";
import { importFile, readImport } from "../../src/export/import-session.ts";
import { branchLines } from "../../src/export/jsonl.ts";
import { everyEntry, labelsOf, treeOf } from "../../src/export/tree.ts";
import { writeWhole } from "../../src/export/write-file.ts";
import { FileStore } from "../../src/file-store.ts";
import { parseSession, toLine } from "../../src/format.ts";
import { MemoryStore } from "../../src/memory-store.ts";
import { readSession } from "../../src/read.ts";
import { tempFolder } from "../support.ts";

const at = (id: string, parentId: string | null = null) => ({ id, parentId });

/** Two branches, labels on both, a name, and a compaction that keeps from a label on. */
function sampleTree(): Entry[] {
  return [
    said(at("a")),
    entryOf("label", at("l1", "a"), { targetId: "a", label: "first" }),
    said(at("b", "l1")),
    said(at("x", "a"), "left"),
    entryOf("label", at("l2", "x"), { targetId: "x", label: "left behind" }),
    entryOf("session_info", at("n", "b"), { name: "Named" }),
    entryOf("compaction", at("c", "n"), { summary: "So far.", firstKeptEntryId: "l1", tokensBefore: 9 }),
    SAMPLES.custom(at("m", "c"), "a"),
    said(at("d", "m")),
    entryOf("label", at("l3", "d"), { targetId: "a", label: "first again" }),
  ];
}

async function project(entries: readonly Entry[]): Promise<unknown> {
  const agent = createAgent({ entries: [...entries] });
  await agent.ready();
  const messages = agent.transcript.project();
  await agent.dispose();
  return messages;
}

test("a branch is exported as a session of its own: in one line, with its labels and name, and the model sees the same", async () => {
  const tree = treeOf(sampleTree());
  const { header, entries, problems } = parseSession(
    [...branchLines(tree, { cwd: "/project", name: "Named" })].join(""),
  )!;
  expect(problems).toEqual([]);
  expect(header).toMatchObject({ version: 3, cwd: "/project" });
  expect(entries.map(({ id }) => id).slice(0, -1)).toEqual(["a", "b", "c", "m", "d", "l3"]);
  expect(entries.at(-1)).toMatchObject({ type: "session_info", name: "Named" });
  expect(entries.map(({ parentId }) => parentId)).toEqual([null, ...entries.slice(0, -1).map(({ id }) => id)]);
  expect([...labelsOf(treeOf(entries))].map(([id, { label }]) => [id, label])).toEqual([["a", "first again"]]);
  expect(await project(entries)).toEqual(await project(sampleTree()));
});

test("the tree of entries that were read is that of the agent which goes on with them", async () => {
  const entries = sampleTree();
  const agent = createAgent({ entries });
  await agent.ready();
  const tree = treeOf(entries);
  expect(tree.leafId).toBe(agent.transcript.leafId);
  expect(tree.path()).toEqual(agent.transcript.path());
  expect([...everyEntry(tree)]).toEqual([...everyEntry(agent.transcript)]);
  expect(tree.path("x").map(({ id }) => id)).toEqual(["a", "x"]);
  await agent.dispose();
});

test("what one store holds is exported to a file and imported into another: equal", async () => {
  const folder = tempFolder();
  const memory = new MemoryStore();
  const entries = sampleTree();
  const sink = memory.open({ header: sampleHeader("s"), entries: entries.slice(0, -1) });
  sink.append(entries.at(-1)!);
  await sink.close();
  const { header, entries: stored } = (await memory.read("s"))!;
  const file = join(folder, "export.jsonl");
  await writeWhole(file, [toLine(header), ...stored.map(toLine)]);
  const place = { folder: join(folder, "sessions"), isShared: true, root: join(folder, "sessions") };
  const path = await importFile(readImport(file), place.folder);
  expect(readFileSync(path)).toEqual(readFileSync(file));
  const files = new FileStore({ placeOf: () => place, durability: () => "flush", report: () => {} });
  await assertSameStores(memory, files);
  const again = new MemoryStore();
  await copySession(files, again, { id: "s" });
  await assertSameStores(memory, again);
});

test("50,000 entries are exported in seconds, piece by piece: what is held is a piece, not the page", async () => {
  const folder = tempFolder();
  const ids = Array.from({ length: 50_000 }, (_, i) => `e${i}`);
  const tree = treeOf(chain(ids));
  const page = { tree, id: "s", cwd: "/project", created: "2026-01-02T03:04:05.678Z" };
  let longest = 0;
  let total = 0;
  for (const piece of htmlPage(page)) {
    longest = Math.max(longest, piece.length);
    total += piece.length;
  }
  expect(longest).toBeLessThan(total / 1_000);
  const path = await exportSession(page, { to: "out.html", folder, sources: [] });
  expect(readFileSync(path, "utf8").endsWith("</body></html>\n")).toBe(true);
  await exportSession(page, { to: "out.jsonl", folder, sources: [] });
  expect(readSession(join(folder, "out.jsonl"))!.entries).toHaveLength(50_000);
});

test("a file is written as a whole or not at all: what fails in the middle leaves what was there", async () => {
  const folder = tempFolder();
  const path = join(folder, "page.html");
  writeFileSync(path, "before");
  function* broken(): Generator<string> {
    yield "x".repeat(3 << 20);
    throw new Error("in the middle");
  }
  await expect(writeWhole(path, broken(), { mayReplace: true })).rejects.toMatchObject({ code: "export_failed" });
  expect(readFileSync(path, "utf8")).toBe("before");
  await expect(writeWhole(path, ["new"])).rejects.toMatchObject({ code: "export_failed" });
  expect(readdirSync(folder)).toEqual(["page.html"]);
});

test("F107 on a disk that is full nothing of an export or an import is left", async ({ skip, onTestFinished }) => {
  const disk = tempFolder();
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", disk]).status === 0;
  skip(!mounted, "needs the right to mount");
  onTestFinished(() => void spawnSync("umount", [disk]));
  const source = join(tempFolder(), "large.jsonl");
  const entries = chain(Array.from({ length: 5_000 }, (_, i) => `e${i}`));
  writeFileSync(source, [toLine(sampleHeader("large")), ...entries.map(toLine)].join(""));
  await expect(importFile(readImport(source), disk)).rejects.toMatchObject({
    code: "import_failed",
    message: expect.stringContaining("ENOSPC"),
  });
  const page = { tree: treeOf(entries), id: "s", cwd: "/", created: "" };
  await expect(exportSession(page, { to: "a.html", folder: disk, sources: [] })).rejects.toMatchObject({
    code: "export_failed",
    message: expect.stringContaining("ENOSPC"),
  });
  expect(readdirSync(disk)).toEqual([]);
  expect(existsSync(source)).toBe(true);
});
