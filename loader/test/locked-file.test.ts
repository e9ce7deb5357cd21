import { chmodSync, lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, rm, symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { isLocked, replaceFile, setAside, withLock } from "../src/locked-file.ts";
import { project } from "./loading.ts";

test("a lock is held by one at a time, and gone when the work is done or fails", async () => {
  const at = await project();
  const path = join(at.path, "file.json");
  let holders = 0;
  let most = 0;
  const work = async () => {
    most = Math.max(most, ++holders);
    await new Promise(setImmediate);
    holders--;
  };
  await Promise.all(Array.from({ length: 5 }, () => withLock(path, 5_000, work)));
  expect(most).toBe(1);
  await expect(withLock(path, 0, () => Promise.reject(new Error("the work")))).rejects.toThrow("the work");
  expect(readdirSync(at.path)).toEqual([]);
});

test("a live lock is waited for no longer than said; any other fault is not waited for at all", async () => {
  const at = await project();
  const path = join(at.path, "file.json");
  await mkdir(`${path}.lock`);
  const fault = await withLock(path, 40, async () => {}).catch((cause: unknown) => cause);
  expect(isLocked(fault)).toBe(true);
  const missing = await withLock(join(at.path, "no/file.json"), 600_000, async () => {}).catch(
    (cause: unknown) => cause,
  );
  expect(missing).toMatchObject({ code: "ENOENT" });
  expect(isLocked(missing)).toBe(false);
});

test("a lock that nobody kept fresh for 10 s is taken over", async () => {
  const at = await project();
  const path = join(at.path, "file.json");
  await mkdir(`${path}.lock`);
  const past = Date.now() / 1000 - 11;
  await utimes(`${path}.lock`, past, past);
  expect(await withLock(path, 0, async () => "done")).toBe("done");
});

test("a file is replaced as a whole, with the mode that was asked for, whatever the umask", async () => {
  const at = await project({ files: { "file.json": "old" } });
  const path = join(at.path, "file.json");
  chmodSync(path, 0o666);
  await replaceFile(path, "new");
  expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual(["new", 0o600]);
  await replaceFile(path, "newer", { mode: 0o666 });
  expect(statSync(path).mode & 0o777).toBe(0o666);
  const lost = () => {
    throw new Error("lost the lock");
  };
  await expect(replaceFile(path, "newest", { assertHeld: lost })).rejects.toThrow("lost the lock");
  expect(readFileSync(path, "utf8")).toBe("newer");
  expect(readdirSync(at.path)).toEqual(["file.json"]);
});

test("attack 43: a link is replaced, and nothing is written to where it led", async () => {
  const at = await project({ files: { target: "mine" } });
  const path = join(at.path, "link.json");
  await symlink(join(at.path, "target"), path);
  await replaceFile(path, "new");
  expect([lstatSync(path).isFile(), readFileSync(path, "utf8"), await at.read("target")]).toEqual([
    true,
    "new",
    "mine",
  ]);
});

test("attack 43: a link that was put where the new file is drafted is not written through", async () => {
  const at = await project({ files: { target: "mine", "file.json": "old" } });
  const path = join(at.path, "file.json");
  const guessed = vi.spyOn(crypto, "randomUUID").mockReturnValue("01234567-0-0-0-0");
  onTestFinished(() => guessed.mockRestore());
  await symlink(join(at.path, "target"), `${path}.${process.pid}.01234567.tmp`);
  await expect(replaceFile(path, "new")).rejects.toMatchObject({ code: "EEXIST" });
  expect([await at.read("target"), await at.read("file.json")]).toEqual(["mine", "old"]);
});

test("what is set aside is a copy of a file, and the thing itself of all else", async () => {
  const at = await project({ files: { file: "damaged", "folder/x": "" } });
  await setAside(join(at.path, "file"));
  await setAside(join(at.path, "folder"));
  const names = readdirSync(at.path).map((name) => name.replace(/-\d.*/, "-…"));
  expect(names.sort()).toEqual(["file", "file.damaged-…", "folder.damaged-…"]);
  await rm(join(at.path, "file"));
  await expect(setAside(join(at.path, "file"))).rejects.toMatchObject({ code: "ENOENT" });
});
