import { execFileSync } from "node:child_process";
import { lstatSync, readdirSync, statSync } from "node:fs";
import { chmod, mkdir, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { withLock } from "../src/locked-file.ts";
import { digestBytes } from "../src/plan.ts";
import { plainPath, readTrust, recordPath } from "../src/trust-store.ts";
import { forget, rememberOver } from "../src/trust-writer.ts";
import { asideIn, FOLDER, NEVER, plainOf, recordOf, resource, say, writePlain } from "./deciding.ts";
import { makePipe, project } from "./loading.ts";

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

// ---------------------------------------------------------------- damage

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
    message: expect.stringMatching(/^What you said about .* was not saved, and counts for this run only: EEXIST/),
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

/** Puts a small disk of its own at a folder, where that may be done. */
function mountSmall(folder: string, skip: (note?: string) => void): void {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k,mode=700", "none", folder], { stdio: "ignore" });
  } catch {
    skip("needs the right to mount a disk");
  }
  onTestFinished(() => void execFileSync("umount", [folder]));
}
