import { execFileSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { chmod, mkdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { TempProject } from "../../test/kit/src/index.ts";
import { readKept } from "../src/kept-contents.ts";
import { withLock } from "../src/locked-file.ts";
import { digestBytes } from "../src/plan.ts";
import { parseTrustFile, type TrustRecord } from "../src/trust-file.ts";
import { listDecisions, plainPath, readTrust, recordPath } from "../src/trust-store.ts";
import { forget, remember, rememberOver, type TrustChange } from "../src/trust-writer.ts";
import { makePipe, project } from "./loading.ts";

const say = (at: { agentDir: string; path: string }, more: Partial<TrustChange> = {}) =>
  remember(at.agentDir, {
    key: at.path,
    decision: "trusted",
    bound: "content",
    below: false,
    decidedBy: "prompt",
    resources: {},
    ...more,
  });
const NEVER = { decision: "denied", bound: "folder" } as const;
const FOLDER = { bound: "folder" } as const;

const plainOf = (at: TempProject) => readFile(plainPath(at.agentDir), "utf8");
const writePlain = (at: TempProject, value: unknown) =>
  at.write(plainPath(at.agentDir), typeof value === "string" ? value : JSON.stringify(value));
const recordOf = (at: TempProject) =>
  parseTrustFile(readFileSync(recordPath(at.agentDir, at.path)), "record") satisfies TrustRecord;
const asideIn = (folder: string) => readdirSync(folder).filter((name) => name.includes(".damaged-"));

/** A resource of one member, with the bytes of it. */
function resource(text: string | Buffer): Pick<TrustChange, "resources" | "contents"> {
  const bytes = Buffer.from(text);
  const digest = digestBytes(bytes);
  const resources = { "prompt:.pi/prompts/p.md": { kind: "prompt", digest, members: { ".pi/prompts/p.md": digest } } };
  return { resources, contents: new Map([[digest, bytes]]) };
}

test("what was said is there at the next start, in a file of its own that nobody else may read", async () => {
  const at = await project();
  await say(at, { below: true, decidedBy: "command", ...resource("hello") });
  const { resources } = resource("hello");
  expect(readTrust(at.agentDir, at.path)).toEqual({ approvals: [recordOf(at)], notes: [] });
  expect(recordOf(at)).toMatchObject({ project: at.path, bound: "content", below: true, resources });
  const modes = ["trust.d", `trust.d/${readdirSync(join(at.agentDir, "trust.d"))[0]}`, "cache/approved"];
  expect(modes.map((name) => statSync(join(at.agentDir, name)).mode & 0o777)).toEqual([0o700, 0o600, 0o700]);
  expect(readdirSync(at.agentDir).sort()).toEqual(["cache", "trust.d"]);
});

test("Pi is told a no and a yes to the folder, in its own way of writing: sorted, two spaces, a newline", async () => {
  const at = await project();
  await writePlain(at, { "/z": true, "/b": null, "/a": false });
  await say(at, NEVER);
  const written = (said: boolean) => `{\n  "/a": false,\n  "/b": null,\n  "${at.path}": ${said},\n  "/z": true\n}\n`;
  expect(await plainOf(at)).toBe(written(false));
  await say(at, FOLDER);
  expect(await plainOf(at)).toBe(written(true));
  expect((await stat(plainPath(at.agentDir))).mode & 0o777).toBe(0o600);
});

test.each([
  ["this content, after a no of ours", NEVER, {}, undefined],
  ["this content, after a no of Pi's", false, {}, undefined],
  ["text only, after a no", NEVER, { decision: "text" } as const, undefined],
  ["this content, after our yes to the folder", FOLDER, {}, undefined],
  ["text only, after our yes to the folder", FOLDER, { decision: "text" } as const, undefined],
  ["never, after Pi's own yes", true, NEVER, false],
  ["this content, beside Pi's own yes", true, {}, true],
  ["this folder, after a no", NEVER, FOLDER, true],
])("trust.json after %s", async (_what, before, change, expected) => {
  const at = await project();
  if (typeof before === "boolean") await writePlain(at, { [at.path]: before });
  else await say(at, before);
  await say(at, change);
  const plain = parseTrustFile(Buffer.from(await plainOf(at)), "plain");
  expect(plain[at.path]).toBe(expected);
  const { denial, approvals } = readTrust(at.agentDir, at.path);
  expect({ isDenied: denial !== undefined, isApproved: approvals.length === 1 }).toEqual({
    isDenied: expected === false,
    isApproved: expected !== false,
  });
});

test("what Pi need not know leaves its file and its lock alone", async () => {
  const at = await project();
  const text = `{"${at.path}":true}`;
  await writePlain(at, text);
  // Nobody waits for this lock: it is not asked for.
  await withLock(plainPath(at.agentDir), 0, async () => say(at, resource("x")));
  expect(await plainOf(at)).toBe(text);
});

test("what is forgotten is gone from both files, and only what was ours is taken from Pi's", async () => {
  const at = await project();
  await writePlain(at, { "/other": true });
  expect(await forget(at.agentDir, at.path)).toBe(false);
  for (const change of [NEVER, FOLDER, {}]) {
    await say(at, change);
    expect(await forget(at.agentDir, at.path)).toBe(true);
    expect(readTrust(at.agentDir, at.path)).toEqual({ approvals: [], notes: [] });
    expect(await plainOf(at)).toBe(`{\n  "/other": true\n}\n`);
  }
  await writePlain(at, { [at.path]: true });
  expect(await forget(at.agentDir, at.path)).toBe(false);
  await writePlain(at, { [at.path]: false });
  expect(await forget(at.agentDir, at.path)).toBe(true);
  expect(await plainOf(at)).toBe("{}\n");
});

test("nothing is made for forgetting what nobody said", async () => {
  const at = await project();
  await rm(at.agentDir, { recursive: true });
  expect(await forget(at.agentDir, at.path)).toBe(false);
  expect(lstatSync(at.agentDir, { throwIfNoEntry: false })).toBeUndefined();
});

test("attack 40: content that was approved once and is no longer recorded is not approved", async () => {
  const at = await project();
  const id = "prompt:.pi/prompts/p.md";
  await say(at, resource("old"));
  await say(at, resource("new"));
  expect(readTrust(at.agentDir, at.path).approvals.map((each) => each.resources[id]?.digest)).toEqual([
    digestBytes(Buffer.from("new")),
  ]);
  await say(at, { ...NEVER, ...resource("new") });
  expect(readTrust(at.agentDir, at.path)).toMatchObject({ approvals: [], denial: recordPath(at.agentDir, at.path) });
});

test("a yes below a folder that was denied is not said to be saved: the no above holds", async () => {
  const at = await project({ files: { "sub/x": "" } });
  await say(at, NEVER);
  const below = { agentDir: at.agentDir, path: join(at.path, "sub") };
  await expect(say(below)).rejects.toMatchObject({
    code: "trust_not_saved",
    message: expect.stringContaining("above"),
  });
  expect(readTrust(at.agentDir, below.path).denial).toBe(plainPath(at.agentDir));
  await forget(at.agentDir, at.path);
  expect(readTrust(at.agentDir, below.path).approvals).toHaveLength(1);
});

test("what two sessions say about one project at once is both remembered", async () => {
  const at = await project();
  const add = (name: string) =>
    rememberOver(at.agentDir, at.path, (before) => ({
      key: at.path,
      decision: "trusted",
      bound: "content",
      below: false,
      decidedBy: "prompt",
      resources: { ...before?.resources, [name]: { kind: "prompt", digest: "sha256-0", members: {} } },
    }));
  const names = Array.from({ length: 8 }, (_, index) => `prompt:${index}`);
  await Promise.all(names.map(add));
  expect(Object.keys(recordOf(at).resources).sort()).toEqual(names);
  await rememberOver(at.agentDir, at.path, () => undefined);
  expect(Object.keys(recordOf(at).resources)).toHaveLength(8);
});

// ---------------------------------------------------------------- damage

test.each([
  ["empty", ""],
  ["cut", "{"],
  ["a list", "[]"],
  ["null", "null"],
  ["with another word", `{ "/w": "yes" }`],
  ["with a repeated key", `{ "/w": false, "/w": true }`],
])("T6, F041: a trust.json that is %s is kept aside when a decision is saved", async (_what, text) => {
  for (const change of [NEVER, FOLDER, {}]) {
    const at = await project();
    await writePlain(at, text);
    await say(at, change);
    const [aside = ""] = asideIn(at.agentDir);
    expect(await readFile(join(at.agentDir, aside), "utf8")).toBe(text);
    expect(aside).toMatch(/^trust\.json\.damaged-\d{4}-/);
    expect(() => parseTrustFile(readFileSync(plainPath(at.agentDir)), "plain")).not.toThrow();
    expect(readTrust(at.agentDir, at.path).notes).toEqual([]);
    expect(listDecisions(at.agentDir).notes).toMatchObject([{ path: join(at.agentDir, aside) }]);
  }
});

test("F041: a trust.json that begins with a byte order mark is read as Pi reads it, and keeps what it says", async () => {
  const at = await project();
  await writePlain(at, `\uFEFF{ "/w": false }`);
  await say(at, NEVER);
  expect(JSON.parse(await plainOf(at))).toEqual({ "/w": false, [at.path]: false });
  expect(asideIn(at.agentDir)).toEqual([]);
});

test.each(["a file", "a folder", "a link", "a pipe"])(
  "T6, F041: %s in place of a record is kept aside, and nothing is written through it",
  async (what) => {
    const at = await project({ files: { "elsewhere.txt": "mine" } });
    const path = recordPath(at.agentDir, at.path);
    await mkdir(join(at.agentDir, "trust.d"));
    if (what === "a file") await writeFile(path, "{");
    if (what === "a folder") await mkdir(path);
    if (what === "a link") await symlink(join(at.path, "elsewhere.txt"), path);
    if (what === "a pipe") makePipe(path);
    await say(at);
    expect(await at.read("elsewhere.txt")).toBe("mine");
    expect(asideIn(join(at.agentDir, "trust.d"))).toHaveLength(1);
    expect(readTrust(at.agentDir, at.path)).toMatchObject({ approvals: [{ project: at.path }], notes: [] });
  },
);

test("T6: a record of a newer version is kept aside, and not overwritten", async () => {
  const at = await project();
  await say(at);
  const newer = JSON.stringify({ ...recordOf(at), version: 2 });
  await at.write(recordPath(at.agentDir, at.path), newer);
  await say(at, NEVER);
  const folder = join(at.agentDir, "trust.d");
  expect(await readFile(join(folder, asideIn(folder)[0] ?? ""), "utf8")).toBe(newer);
});

test("F041, attack 43: a linked trust.json is neither followed nor replaced; what was said is not said to be saved", async () => {
  const at = await project({ files: { "real.json": "{}" } });
  await symlink(join(at.path, "real.json"), plainPath(at.agentDir));
  for (const change of [NEVER, FOLDER, {}]) {
    await expect(say(at, change)).rejects.toMatchObject({
      code: "trust_not_saved",
      message: expect.stringContaining(`${plainPath(at.agentDir)} is a link`),
      hint: expect.any(String),
    });
  }
  expect(lstatSync(plainPath(at.agentDir)).isSymbolicLink()).toBe(true);
  expect(await at.read("real.json")).toBe("{}");
});

test("F041, attack 43: nothing is written into a linked trust.d, nor into a linked cache", async () => {
  const at = await project({ files: { "elsewhere/x": "" } });
  await symlink(join(at.path, "elsewhere"), join(at.agentDir, "trust.d"));
  await expect(say(at)).rejects.toMatchObject({
    code: "trust_not_saved",
    message: expect.stringContaining("is a link"),
  });
  await rm(join(at.agentDir, "trust.d"));
  await mkdir(join(at.agentDir, "cache"));
  await symlink(join(at.path, "elsewhere"), join(at.agentDir, "cache/approved"));
  await say(at, resource("text"));
  expect(readdirSync(join(at.path, "elsewhere"))).toEqual(["x"]);
});

test("T6: what cannot be written leaves everything as it was, and is told in three parts", async () => {
  const at = await project({ files: { file: "" } });
  await expect(say({ agentDir: join(at.path, "file"), path: at.path })).rejects.toMatchObject({
    code: "trust_not_saved",
    message: expect.stringMatching(/^What you said about .* holds for this run only: EEXIST/),
    hint: expect.any(String),
  });
  // The account's own folder lies in the project, and speaks for nobody.
  await expect(say({ agentDir: "/dev/null", path: at.path })).rejects.toMatchObject({ code: "trust_not_saved" });
  await say(at, FOLDER);
  await expect(say(at, { ...NEVER, resources: { x: { kind: 1 } } as never })).rejects.toMatchObject({
    code: "trust_not_saved",
  });
  expect(recordOf(at)).toMatchObject(FOLDER);
});

test("T6: a name that could not be read again is not recorded", async () => {
  const at = await project();
  const members = JSON.parse(`{ "__proto__": "sha256-0" }`) as Record<string, string>;
  const resources = { "prompt:p": { kind: "prompt", digest: "sha256-0", members } };
  await expect(say(at, { resources })).rejects.toMatchObject({ message: expect.stringContaining("__proto__") });
  expect(readTrust(at.agentDir, at.path)).toEqual({ approvals: [], notes: [] });
});

test("F041: a full disk damages nothing, and leaves nothing behind", async ({ skip }) => {
  const at = await project();
  mountSmall(at.agentDir, skip);
  await say(at, NEVER);
  const before = [recordOf(at), await plainOf(at)];
  // Until not a byte more fits.
  let count = 0;
  for (const size of [4096, 1]) {
    while (
      await writeFile(join(at.agentDir, `filler-${count++}`), "x".repeat(size)).then(
        () => true,
        () => false,
      )
    );
  }
  const large = { ".pi/x": "y".repeat(100_000) };
  const resources = { "prompt:x": { kind: "prompt", digest: "sha256-0", members: large } };
  await expect(say(at, { ...FOLDER, resources })).rejects.toMatchObject({
    code: "trust_not_saved",
    message: expect.stringContaining("ENOSPC"),
  });
  expect([recordOf(at), await plainOf(at)]).toEqual(before);
  expect(readdirSync(join(at.agentDir, "trust.d"))).toHaveLength(1);
});

test("F041: a store that cannot be written to says so at once, and is read as it is", async ({ skip }) => {
  const at = await project();
  mountSmall(at.agentDir, skip);
  await say(at, FOLDER);
  execFileSync("mount", ["-o", "remount,ro", at.agentDir]);
  const refusal = { code: "trust_not_saved", message: expect.stringContaining("EROFS") };
  await expect(say(at, NEVER)).rejects.toMatchObject(refusal);
  await expect(forget(at.agentDir, at.path)).rejects.toMatchObject(refusal);
  expect(await forget(at.agentDir, "/another")).toBe(false);
  expect(readTrust(at.agentDir, at.path).approvals).toHaveLength(1);
});

test("a folder that others could write to is closed to them when something is saved", async () => {
  const at = await project();
  await mkdir(join(at.agentDir, "trust.d"));
  await chmod(join(at.agentDir, "trust.d"), 0o777);
  await say(at);
  expect(readTrust(at.agentDir, at.path)).toMatchObject({ approvals: [{}], notes: [] });
});

test("what processes left that died while writing is removed", async () => {
  const at = await project();
  await writePlain(at, {});
  const left = [`${recordPath(at.agentDir, at.path)}.1.abcdef01.tmp`, `${plainPath(at.agentDir)}.1.abcdef01.tmp`];
  for (const path of left) await at.write(path, "{");
  await say(at, NEVER);
  expect([...readdirSync(at.agentDir), ...readdirSync(join(at.agentDir, "trust.d"))].join()).not.toContain(".tmp");
});

// ---------------------------------------------------------------- locks

test("T6: a lock that a killed process left goes stale; one that is held is waited for", async () => {
  const at = await project();
  for (const path of [join(at.agentDir, "trust.d"), plainPath(at.agentDir)]) {
    await mkdir(`${path}.lock`);
    await utimes(`${path}.lock`, 0, 0);
  }
  await say(at, NEVER);
  const order: string[] = [];
  await withLock(join(at.agentDir, "trust.d"), 0, async () => {
    void say(at, FOLDER).then(() => order.push("saved"));
    await new Promise(setImmediate);
    order.push("released");
  });
  await expect.poll(() => order).toEqual(["released", "saved"]);
  expect(readTrust(at.agentDir, at.path).approvals).toHaveLength(1);
});

// ---------------------------------------------------------------- contents

test("texts that were approved are kept for a diff, as long as a record names them", async () => {
  const at = await project();
  const other = { agentDir: at.agentDir, path: join(at.path, "other") };
  const digestOf = (text: string) => digestBytes(Buffer.from(text));
  await say(at, resource("one"));
  await say(other, resource("one"));
  expect(readKept(at.agentDir, digestOf("one"))?.toString()).toBe("one");
  await say(at, resource("two"));
  expect(readKept(at.agentDir, digestOf("one"))?.toString()).toBe("one");
  await forget(at.agentDir, other.path);
  expect(readKept(at.agentDir, digestOf("one"))).toBeUndefined();
  await say(at, NEVER);
  expect(readdirSync(join(at.agentDir, "cache/approved"))).toEqual([]);
});

test("what is no text, too large, or named by no record is not kept", async () => {
  const at = await project();
  for (const content of [Buffer.from([0xff, 0xfe]), "a\0b", "x".repeat((1 << 20) + 1)])
    await say(at, resource(content));
  const { contents } = resource("unnamed");
  await say(at, { contents });
  expect(readdirSync(at.agentDir)).toEqual(["trust.d"]);
});

test("T6: a kept text that is not what it was is not shown, and kept anew", async () => {
  const at = await project();
  const digest = digestBytes(Buffer.from("approved"));
  await say(at, resource("approved"));
  const path = join(at.agentDir, "cache/approved", digest.slice("sha256-".length));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await writeFile(path, "something else");
  expect(readKept(at.agentDir, digest)).toBeUndefined();
  await rm(path);
  await symlink(await at.write("approved.txt", "approved"), path);
  expect(readKept(at.agentDir, digest)).toBeUndefined();
  await say(at, resource("approved"));
  expect(readKept(at.agentDir, digest)?.toString()).toBe("approved");
  for (const name of ["../../trust.json", "sha256-../../trust.json", `sha256-${"0".repeat(64)}`, ""])
    expect(readKept(at.agentDir, name)).toBeUndefined();
});

/** Puts a small disk of its own at a folder, where that may be done. */
function mountSmall(folder: string, skip: (note?: string) => void): void {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k,mode=700", "none", folder], { stdio: "ignore" });
  } catch {
    skip("needs the right to mount a disk");
  }
  onTestFinished(() => void execFileSync("umount", [folder]));
}
