import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toPrintable } from "../src/printable.ts";
import { listDecisions, readTrust, recordPath } from "../src/trust-store.ts";
import { record, store, writePlain } from "./deciding.ts";
import { makePipe, project } from "./loading.ts";

const isRoot = process.getuid?.() === 0;

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
  await writePlain(at, { [at.path]: false, [join(at.path, "sub")]: true });
  expect(readTrust(at.agentDir, join(at.path, "sub")).denial).toBe(join(at.agentDir, "trust.json"));
});

test("a yes of Pi counts only for the project itself, and only with a folder-bound record of ours", async () => {
  const at = await project({ files: { "sub/x": "" } });
  await writePlain(at, { [at.path]: true });
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
  await writePlain(at, content);
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

test("T6: while a file that may have said no is damaged, nothing counts as a yes, and that is said", async () => {
  const at = await project({ files: { "sub/x": "" } });
  const sub = join(at.path, "sub");
  await store(at, at.path, record(at.path, { below: true }));
  await store(at, sub, record(sub));
  expect(readTrust(at.agentDir, sub).approvals).toHaveLength(2);
  const damaged = [join(at.agentDir, "trust.json"), recordPath(at.agentDir, at.path), recordPath(at.agentDir, sub)];
  for (const path of damaged) {
    const before = await readFile(path).catch(() => undefined);
    await at.write(path, "{");
    expect(readTrust(at.agentDir, sub)).toMatchObject({ approvals: [], isDamaged: true, notes: [{ path }] });
    await (before ? at.write(path, before) : rm(path));
    expect(readTrust(at.agentDir, sub).isDamaged).toBeUndefined();
  }
  // What is damaged about somebody else is nothing to this one.
  await at.write(recordPath(at.agentDir, "/another"), "{");
  expect(readTrust(at.agentDir, sub)).toMatchObject({ notes: [] });
});

test("T6: a trust.d that is no folder, and a link to one, say no yes", async () => {
  const at = await project();
  const folder = join(at.agentDir, "trust.d");
  await store(at, at.path, record(at.path));
  await rename(folder, join(at.home, "elsewhere"));
  await symlink(join(at.home, "elsewhere"), folder);
  expect(readTrust(at.agentDir, at.path).approvals).toEqual([]);
  await rm(folder);
  await at.write(folder, "");
  expect(readTrust(at.agentDir, at.path)).toMatchObject({ approvals: [], isDamaged: true });
});

test("T6: a trust.json that Pi is just writing is read again when it is whole", async () => {
  const at = await project();
  await writePlain(at, "");
  await mkdir(join(at.agentDir, "trust.json.lock"));
  const file = JSON.stringify(join(at.agentDir, "trust.json"));
  const text = JSON.stringify(JSON.stringify({ [at.path]: false }));
  // Another process writes while this one waits. It says when it is there.
  const writer = `const { writeFileSync } = require("node:fs"); console.log("here");
    setTimeout(() => writeFileSync(${file}, ${text}), 30);`;
  const child = spawn(process.execPath, ["-e", writer], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  expect(readTrust(at.agentDir, at.path)).toMatchObject({ denial: join(at.agentDir, "trust.json"), notes: [] });
  await once(child, "exit");
});

test("all decisions are listed, with what is gone, what Pi says, and what cannot be believed", async () => {
  const at = await project();
  const gone = join(at.path, "gone");
  await store(at, at.path, record(at.path, { resources: { a: { kind: "x", digest: "sha256-0", members: {} } } }));
  await store(at, gone, record(gone, { decision: "denied" }));
  const broken = await store(at, "/broken", "{");
  const foreign = await store(at, "/foreign", record("/another"));
  const open = await store(at, "/open", record("/open"));
  await chmod(open, 0o666);
  await writePlain(at, { [gone]: false, "/x": null, "/y": true });
  const listed = listDecisions(at.agentDir);
  expect(listed.decisions).toMatchObject([
    { project: at.path, resources: 1, isGone: false, file: recordPath(at.agentDir, at.path) },
    { project: gone, decision: "denied", isGone: true },
  ]);
  expect(listed.plain).toEqual({ [gone]: false, "/y": true });
  expect(listed.notes.map(({ path }) => path).sort()).toEqual([broken, foreign, open].sort());
  expect(listDecisions("/dev/null")).toEqual({ decisions: [], plain: {}, notes: [] });
  expect(listDecisions(join(at.home, "none"))).toEqual({ decisions: [], plain: {}, notes: [] });
});

test("attack 24: a note spells out what would hide or move text", async () => {
  const at = await project();
  await store(at, at.path, record("/x\u001b[2K\u202e"));
  await writePlain(at, `{ "\\u001b[2K": 1 }`);
  const messages = readTrust(at.agentDir, at.path).notes.map(({ message }) => message);
  expect(messages).toHaveLength(2);
  expect(messages.map(toPrintable)).toEqual(messages);
});
