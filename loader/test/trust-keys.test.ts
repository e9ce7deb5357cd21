import { execFileSync } from "node:child_process";
import { chmod, chown, mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findBoundary } from "../src/places.ts";
import { readTrust, recordPath } from "../src/trust-store.ts";
import { record, store, writePlain } from "./deciding.ts";
import { project } from "./loading.ts";

const isRoot = process.getuid?.() === 0;

test("F034: a name that only begins like an approved one, or is spelled almost like it, is another project", async () => {
  const at = await project();
  const names = ["a", "A", "abc", "a-b", "a_b", "a.", "a ", "caf\u00e9", "cafe\u0301", "x/y", "x__y", "\u202ea"];
  for (const name of names) {
    const key = join(at.path, name);
    await mkdir(key, { recursive: true });
    await store(at, key, record(key, { below: true }));
    const known = names.filter((other) => readTrust(at.agentDir, join(at.path, other)).approvals.length > 0);
    expect(known).toEqual([name]);
    await rm(recordPath(at.agentDir, key));
    await writePlain(at, { [key]: false });
    expect(names.filter((other) => readTrust(at.agentDir, join(at.path, other)).denial)).toEqual([name]);
    await writePlain(at, {});
  }
});

test("F034, attack 28: a folder has one key however it is reached, and a link that leads elsewhere another", async () => {
  const at = await project({ files: { "real/a/x": "", "real/b/x": "" } });
  const [a, b, link] = ["real/a", "real/b", "link"].map((name) => join(at.path, name)) as [string, string, string];
  await symlink(a, link);
  await store(at, a, record(a));
  const spellings = [a, `${a}/`, join(at.path, "real/./a"), `${at.path}/real/b/../a`, link, `${link}/`];
  const known = (cwd: string) => readTrust(at.agentDir, findBoundary(cwd)).approvals.length > 0;
  expect(spellings.map(known)).toEqual(spellings.map(() => true));
  await rm(link);
  await symlink(b, link);
  expect([link, b].map(known)).toEqual([false, false]);
});

test("attack 28: the same folder mounted elsewhere is another place", async ({ skip }) => {
  const at = await project({ files: { "a/x": "", "b/y": "" } });
  const [a, b] = ["a", "b"].map((name) => join(at.path, name)) as [string, string];
  try {
    execFileSync("mount", ["--bind", a, b], { stdio: "ignore" });
  } catch {
    skip("needs the right to mount");
  }
  onTestFinished(() => void execFileSync("umount", [b]));
  await store(at, a, record(a));
  expect([a, b].map((cwd) => readTrust(at.agentDir, findBoundary(cwd)).approvals.length)).toEqual([1, 0]);
});

test("attack 26: an approval made and below ends at each repository inside, however that is linked", async () => {
  const files = { "sub/x": "", "clone/.git/HEAD": "", "submodule/.git": "gitdir: ../.git/modules/x", "linked/x": "" };
  const at = await project({ files });
  await symlink("../nowhere", join(at.path, "linked/.git"));
  await store(at, at.path, record(at.path, { below: true }));
  const names = ["sub", "clone", "submodule", "linked"];
  const known = names.map((name) => readTrust(at.agentDir, findBoundary(join(at.path, name))).approvals.length);
  expect(known).toEqual([1, 0, 0, 0]);
});

test("T1: a no below an approval holds, in our records and in Pi's file", async () => {
  const at = await project({ files: { "sub/deep/x": "" } });
  const [sub, deep] = ["sub", "sub/deep"].map((name) => join(at.path, name)) as [string, string];
  await store(at, at.path, record(at.path, { below: true }));
  await store(at, sub, record(sub, { decision: "denied", below: true }));
  expect([sub, deep].map((key) => readTrust(at.agentDir, key).denial)).toEqual(
    [1, 2].map(() => recordPath(at.agentDir, sub)),
  );
  await rm(recordPath(at.agentDir, sub));
  await writePlain(at, { [at.path]: true, [sub]: false, [deep]: true });
  expect([sub, deep].every((key) => readTrust(at.agentDir, key).denial)).toBe(true);
  expect(readTrust(at.agentDir, at.path).denial).toBeUndefined();
});

test.runIf(isRoot)("T6: another user's record, folder or group never says yes; their no is taken", async () => {
  const at = await project();
  const path = await store(at, at.path, record(at.path));
  const isApproved = () => readTrust(at.agentDir, at.path).approvals.length > 0;
  expect(isApproved()).toBe(true);
  for (const each of [path, join(at.agentDir, "trust.d")]) {
    await chown(each, 65534, 65534);
    expect(isApproved()).toBe(false);
    await chown(each, 0, 65534);
    await chmod(each, 0o770);
    expect(isApproved()).toBe(false);
    await chown(each, 0, 0);
    await chmod(each, 0o700);
    expect(isApproved()).toBe(true);
  }
  await store(at, at.path, record(at.path, { decision: "denied" }));
  await chown(path, 65534, 65534);
  expect(readTrust(at.agentDir, at.path).denial).toBe(path);
});
