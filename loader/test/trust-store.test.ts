import { chmod, chown, mkdir, readFile, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { TempProject } from "../../test/kit/src/index.ts";
import { findMisfits, type JsonSchema } from "../src/json-check.ts";
import { readTrust, recall, recordPath, type TrustRecord } from "../src/trust-store.ts";
import { makePipe, planOf, project } from "./loading.ts";

const isRoot = process.getuid?.() === 0;

function record(key: string, more: Partial<TrustRecord> = {}): TrustRecord {
  const decided = { decidedAt: "2026-11-30T00:00:00.000Z", decidedBy: "prompt" };
  return {
    version: 1,
    project: key,
    bound: "folder",
    decision: "trusted",
    below: false,
    resources: {},
    ...decided,
    ...more,
  };
}

function store(at: TempProject, key: string, value: unknown): Promise<string> {
  return at.write(recordPath(at.agentDir, key), typeof value === "string" ? value : JSON.stringify(value));
}

const plain = (at: TempProject, value: unknown) =>
  at.write(join(at.agentDir, "trust.json"), typeof value === "string" ? value : JSON.stringify(value));

test("without trust files nothing is remembered, and nothing was read", async () => {
  const at = await project();
  expect(readTrust(at.agentDir, at.path)).toEqual({ approvals: [], notes: [] });
});

test("a record of ours is found by its key, and by nothing else", async () => {
  const at = await project();
  await store(at, at.path, record(at.path));
  expect(readTrust(at.agentDir, at.path).approvals).toHaveLength(1);
  expect(readTrust(at.agentDir, `${at.path}-other`).approvals).toHaveLength(0);
  expect(readTrust(at.agentDir, join(at.path, "sub")).approvals).toHaveLength(0);
});

test("T1: keys that look alike have records of their own", () => {
  const keys = ["/w/a-b", "/w/a_b", "/w/x/y", "/w/x__y", "/w/a.b", "/w/A-b", "/w/caf\u00e9", "/w/cafe\u0301"];
  expect(new Set(keys.map((key) => recordPath("/agent", key))).size).toBe(keys.length);
});

test("T1: a record that lies under another project's name counts for neither", async () => {
  const at = await project();
  await store(at, at.path, record("/somewhere/else"));
  const stored = readTrust(at.agentDir, at.path);
  expect(stored.approvals).toEqual([]);
  expect(stored.notes[0]?.message).toContain("/somewhere/else");
});

test("F032: an ancestor's yes counts only where it was made and below, and never across a boundary", async () => {
  const at = await project({ files: { "sub/x": "", "repo/.git": "" } });
  await store(at, at.path, record(at.path, { below: true }));
  expect(readTrust(at.agentDir, join(at.path, "sub")).approvals).toHaveLength(1);
  expect(readTrust(at.agentDir, join(at.path, "repo")).approvals).toHaveLength(0);
  await store(at, at.path, record(at.path, { below: false }));
  expect(readTrust(at.agentDir, join(at.path, "sub")).approvals).toHaveLength(0);
});

test("F032: a no holds: the project's own, an ancestor's of Pi, an ancestor's of ours made and below", async () => {
  const at = await project({ files: { "sub/x": "", "repo/.git": "" } });
  await store(at, at.path, record(at.path, { decision: "denied", below: true }));
  expect(readTrust(at.agentDir, join(at.path, "repo")).denial).toBe(recordPath(at.agentDir, at.path));
  await rm(recordPath(at.agentDir, at.path));
  await plain(at, { [at.path]: false, [join(at.path, "sub")]: true });
  expect(readTrust(at.agentDir, join(at.path, "sub")).denial).toBe(join(at.agentDir, "trust.json"));
});

test("a yes of Pi counts only for the project itself, and only with a folder-bound record of ours", async () => {
  const at = await project({ files: { "sub/x": "" } });
  await plain(at, { [at.path]: true });
  const alone = readTrust(at.agentDir, at.path);
  expect(alone.approvals).toEqual([]);
  expect(alone.notes[0]?.message).toContain("whatever it becomes");
  expect(readTrust(at.agentDir, join(at.path, "sub"))).toEqual({ approvals: [], notes: [] });
  await store(at, at.path, record(at.path));
  expect(readTrust(at.agentDir, at.path)).toMatchObject({ approvals: [{ bound: "folder" }], notes: [] });
});

const BROKEN: [string, string][] = [
  ["empty", ""],
  ["cut", "{"],
  ["a list", "[]"],
  ["null", "null"],
  ["no JSON", "trusted"],
  ["with a comment", "{} // yes"],
];

test.each([
  ...BROKEN,
  ["with a word for a decision", `{ "KEY": "yes" }`],
  ["with a repeated key", `{ "KEY": null, "KEY": true }`],
  ["with __proto__", `{ "__proto__": { "KEY": true } }`],
])("T6, F041: a trust.json that is %s says nothing, is reported and left as it is", async (_what, text) => {
  const at = await project();
  const content = text.replaceAll("KEY", at.path);
  await plain(at, content);
  const stored = readTrust(at.agentDir, at.path);
  expect(stored).toMatchObject({ approvals: [], notes: [{ path: join(at.agentDir, "trust.json") }] });
  expect(await readFile(join(at.agentDir, "trust.json"), "utf8")).toBe(content);
});

test.each([
  ...BROKEN,
  ["of a newer version", JSON.stringify({ ...record("KEY"), version: 2 })],
  ["with an unknown decision", JSON.stringify({ ...record("KEY"), decision: "yes" })],
  ["with a key too many", JSON.stringify({ ...record("KEY"), also: true })],
  ["without what it is bound to", JSON.stringify({ ...record("KEY"), bound: undefined })],
  ["with a repeated key", JSON.stringify(record("KEY")).replace(`"below"`, `"decision":"trusted","below"`)],
  ["with __proto__", JSON.stringify(record("KEY")).replace(`"below"`, `"__proto__":{},"below"`)],
])("T6, F041: a record that is %s says nothing, and is reported", async (_what, text) => {
  const at = await project();
  const path = await store(at, at.path, text.replaceAll("KEY", at.path));
  expect(readTrust(at.agentDir, at.path)).toMatchObject({ approvals: [], notes: [{ path }] });
  expect(readTrust(at.agentDir, at.path).denial).toBeUndefined();
});

test("T6, F041: a folder, a link or a pipe in place of a trust file says nothing", async () => {
  const at = await project();
  const path = join(at.agentDir, "trust.json");
  await mkdir(path);
  expect(readTrust(at.agentDir, at.path).notes).toHaveLength(1);
  await rm(path, { recursive: true });
  await at.write("real.json", JSON.stringify({ [at.path]: false }));
  await symlink(join(at.path, "real.json"), path);
  expect(readTrust(at.agentDir, at.path).notes[0]?.message).toContain("is a link");
  await rm(path);
  makePipe(path);
  expect(readTrust(at.agentDir, at.path).notes).toHaveLength(1);
});

test("T6, F041: a file that others may write says no yes, but its no is taken", async () => {
  const at = await project({ files: { "other/x": "" } });
  const path = await store(at, at.path, record(at.path));
  await chmod(path, 0o666);
  expect(readTrust(at.agentDir, at.path)).toMatchObject({ approvals: [], notes: [{ path }] });
  await chmod(path, 0o600);
  await chmod(join(at.agentDir, "trust.d"), 0o777);
  expect(readTrust(at.agentDir, at.path).approvals).toEqual([]);
  await store(at, at.path, record(at.path, { decision: "denied" }));
  expect(readTrust(at.agentDir, at.path).denial).toBe(path);
});

test.runIf(isRoot)("T6, F041: a file of another user says no yes", async () => {
  const at = await project();
  const path = await store(at, at.path, record(at.path));
  await chown(path, 65534, 65534);
  expect(readTrust(at.agentDir, at.path)).toMatchObject({ approvals: [], notes: [{ path }] });
});

test("a content-bound record knows exactly the content that it was made about", async () => {
  const at = await project({ files: { ".pi/extensions/a.ts": "1", ".pi/prompts/p.md": "2" } });
  const [extension, prompt] = (await planOf(at)).items;
  if (!extension || !prompt) throw new Error("The plan is empty.");
  const known = ({ id, kind, digest }: typeof extension) => [id, { kind, digest, members: {} }];
  const bound = { bound: "content", resources: Object.fromEntries([known(extension), known(prompt)]) } as const;
  const changed = { ...extension, digest: `sha256-${"0".repeat(64)}` };
  const full = record(at.path, bound);
  expect([extension, prompt, changed].map((item) => recall(full, item))).toEqual(["loaded", "loaded", undefined]);
  const texts = record(at.path, { ...bound, decision: "text" });
  expect([extension, prompt, changed].map((item) => recall(texts, item))).toEqual(["held", "loaded", undefined]);
  expect(recall(full, { ...extension, kind: "prompt" })).toBeUndefined();
  expect(recall(record(at.path, { bound: "content" }), { ...extension, id: "__proto__", digest: "" })).toBeUndefined();
});

test("the published schema says nothing that the check would not look at", async () => {
  const text = await readFile(new URL("../../trust.schema.json", import.meta.url), "utf8");
  const words = new Set<string>();
  const walk = (schema: Record<string, unknown>, isMap = false) => {
    for (const [word, value] of Object.entries(schema)) {
      if (!isMap) words.add(word);
      if (typeof value === "object" && value !== null && !Array.isArray(value)) {
        walk(value as Record<string, unknown>, word === "properties");
      }
    }
  };
  const { $defs } = JSON.parse(text) as { $defs: Record<"plain" | "record", JsonSchema> };
  walk($defs.plain as never);
  walk($defs.record as never);
  expect([...words].sort()).toEqual(
    ["additionalProperties", "description", "enum", "properties", "required", "type"].sort(),
  );
  expect(findMisfits($defs.record, record("/x") as never)).toEqual([]);
});
